// RUN: tutti-opt %s --tutti-decompose --split-input-file | FileCheck %s
// Windows of images, and margins.

// Windows that a product reads in place are a move of an image with its margin: lines of the image between zeros.
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1, d2)[s0] -> (d0, {{.*}}, d2 mod 8)>
module attributes {tutti.members = 1 : i64} {
  tutti.param @w : tensor<72x5xf32>
  // CHECK-LABEL: func.func @in_place
  func.func @in_place(%x: tensor<?x64x8xf32, #tutti.sizes<batch>>) -> tensor<?x64x5xf32, #tutti.sizes<batch>> {
    // CHECK-DAG: %[[FROM:.*]] = tutti.constant dense<[0, 0, 1, 2, 3, 4, 5, 6, 7, 0]>
    // CHECK-DAG: %[[LINES:.*]] = tutti.reshape %arg0 : tensor<?x64x8xf32, #tutti.sizes<batch>> -> tensor<?x8x64xf32, #tutti.sizes<batch>>
    // CHECK: tutti.gather %[[LINES]] at %[[FROM]] axis 1
    // CHECK: %[[ALL:.*]] = tutti.map %{{.*}}, %{{.*}} -> tensor<?x10x64xf32, #tutti.sizes<batch>>
    // CHECK: arith.select
    // CHECK: %[[LEFT:.*]] = tutti.map %{{.*}} : (tensor<f32>) -> tensor<?x10x8xf32, #tutti.sizes<batch>>
    // CHECK: %[[LINE:.*]] = tutti.map %[[ALL]]
    // CHECK: %[[RIGHT:.*]] = tutti.map %{{.*}} : (tensor<f32>) -> tensor<?x10x8xf32, #tutti.sizes<batch>>
    // CHECK: %[[WIDE:.*]] = tutti.concat %[[LEFT]], %[[LINE]], %[[RIGHT]] axis 2
    // CHECK: %[[MARGIN:.*]] = tutti.reshape %[[WIDE]]
    // CHECK: %[[ROWS:.*]] = tutti.map %[[MARGIN]] [#[[PLACE]]] : (tensor<?x100x8xf32, #tutti.sizes<batch>>) -> tensor<?x64x72xf32, #tutti.sizes<batch>>
    // CHECK: tutti.contract %[[ROWS]],
    %0 = tutti.windows %x of [3, 3] in [8, 8] count [8, 8] step [1, 1] gap [1, 1] before [1, 1] : tensor<?x64x8xf32, #tutti.sizes<batch>>
    %1 = tutti.get @w : tensor<72x5xf32>
    %2 = tutti.contract %0, %1 "bsk,kn->bsn" : tensor<?x64x72xf32, #tutti.sizes<batch>>, tensor<72x5xf32>
    return %2 : tensor<?x64x5xf32, #tutti.sizes<batch>>
  }
}

// -----

// A CUDA device's rows are gathered, and so is what nothing multiplies.
module attributes {tutti.members = 1 : i64, tutti.target = #tutti<target cuda>} {
  tutti.param @w : tensor<72x5xf32>
  // CHECK-LABEL: func.func @gathered
  func.func @gathered(%x: tensor<?x64x8xf32, #tutti.sizes<batch>>) -> tensor<?x64x5xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.gather %{{.*}} at %{{.*}} axis 1 : tensor<?x64x8xf32, #tutti.sizes<batch>>, tensor<64x9xi64>
    %0 = tutti.windows %x of [3, 3] in [8, 8] count [8, 8] step [1, 1] gap [1, 1] before [1, 1] : tensor<?x64x8xf32, #tutti.sizes<batch>>
    %1 = tutti.get @w : tensor<72x5xf32>
    %2 = tutti.contract %0, %1 "bsk,kn->bsn" : tensor<?x64x72xf32, #tutti.sizes<batch>>, tensor<72x5xf32>
    return %2 : tensor<?x64x5xf32, #tutti.sizes<batch>>
  }
}

// -----

// A margin alone: by lines on a CPU ...
module attributes {tutti.members = 1 : i64} {
  // CHECK-LABEL: func.func @margin
  func.func @margin(%x: tensor<?x16x8xf32, #tutti.sizes<batch>>) -> tensor<?x36x8xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.gather %{{.*}} at %{{.*}} axis 1 : tensor<?x4x32xf32, #tutti.sizes<batch>>, tensor<6xi64>
    // CHECK: tutti.concat
    %0 = tutti.windows %x of [1, 1] in [4, 4] count [6, 6] step [1, 1] gap [1, 1] before [1, 1] : tensor<?x16x8xf32, #tutti.sizes<batch>>
    return %0 : tensor<?x36x8xf32, #tutti.sizes<batch>>
  }
}

// -----

// ... and by places on a CUDA device, which has a block for some of them.
module attributes {tutti.members = 1 : i64, tutti.target = #tutti<target cuda>} {
  // CHECK-LABEL: func.func @margin_of_many_blocks
  func.func @margin_of_many_blocks(%x: tensor<?x16x8xf32, #tutti.sizes<batch>>) -> tensor<?x36x8xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.gather %{{.*}} at %{{.*}} axis 1 : tensor<?x16x8xf32, #tutti.sizes<batch>>, tensor<36xi64>
    // CHECK-NOT: tutti.concat
    %0 = tutti.windows %x of [1, 1] in [4, 4] count [6, 6] step [1, 1] gap [1, 1] before [1, 1] : tensor<?x16x8xf32, #tutti.sizes<batch>>
    return %0 : tensor<?x36x8xf32, #tutti.sizes<batch>>
  }
}

// -----

// Few channels are gathered one by one, from where they lay before they were brought behind the image.
module attributes {tutti.members = 1 : i64} {
  // CHECK-LABEL: func.func @few_channels
  // CHECK-SAME: (%[[X:.*]]: tensor<?x3x4xf32, #tutti.sizes<batch>>)
  func.func @few_channels(%x: tensor<?x3x4xf32, #tutti.sizes<batch>>) -> tensor<?x3x6xf32, #tutti.sizes<batch>> {
    // CHECK-DAG: %[[ROW:.*]] = tutti.reshape %[[X]] {{.*}} -> tensor<?x12xf32, #tutti.sizes<batch>>
    // CHECK-DAG: tutti.constant dense<[0, 4, 8, 1, 5, 9, 1, 5, 9, 2, 6, 10, 2, 6, 10, 3, 7, 11]>
    // CHECK: tutti.gather %[[ROW]]
    // CHECK-NOT: tutti.select
    %0 = tutti.transpose %x [0, 2, 1] : tensor<?x3x4xf32, #tutti.sizes<batch>>
    %1 = tutti.windows %0 of [2] in [4] count [3] step [1] gap [1] before [0] : tensor<?x4x3xf32, #tutti.sizes<batch>>
    return %1 : tensor<?x3x6xf32, #tutti.sizes<batch>>
  }
}

// -----

// Windows of an image with its margin are windows of the image, which begin further before it.
// CHECK-LABEL: func.func @windows_of_margin
func.func @windows_of_margin(%x: tensor<?x4x2xf32, #tutti.sizes<batch>>) -> tensor<?x5x4xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.constant dense<[2, 3, 0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 4, 5]>
  // CHECK: tutti.gather
  // CHECK-NOT: tutti.gather
  %0 = tutti.windows %x of [1] in [4] count [6] step [1] gap [1] before [1] outside mirror : tensor<?x4x2xf32, #tutti.sizes<batch>>
  %1 = tutti.windows %0 of [2] in [6] count [5] step [1] gap [1] before [0] : tensor<?x6x2xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x5x4xf32, #tutti.sizes<batch>>
}

// -----

// Zeros around zeros are one margin, whose elements are chosen at once.
// CHECK-LABEL: func.func @zeros_around_zeros
func.func @zeros_around_zeros(%x: tensor<?x2x1xf32, #tutti.sizes<batch>>) -> tensor<?x5x2xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.constant dense<[0, 0, 0, 0, 0, 1, 1, 0, 0, 0]>
  // CHECK: tutti.gather
  // CHECK-NOT: tutti.gather
  %0 = tutti.windows %x of [1] in [2] count [4] step [1] gap [1] before [1] : tensor<?x2x1xf32, #tutti.sizes<batch>>
  %1 = tutti.windows %0 of [2] in [4] count [5] step [1] gap [1] before [1] : tensor<?x4x1xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x5x2xf32, #tutti.sizes<batch>>
}

// -----

// Zeros around another margin are no part of it.
// CHECK-LABEL: func.func @zeros_around_ends
func.func @zeros_around_ends(%x: tensor<?x2x1xf32, #tutti.sizes<batch>>) -> tensor<?x5x2xf32, #tutti.sizes<batch>> {
  // CHECK-COUNT-2: tutti.gather
  %0 = tutti.windows %x of [1] in [2] count [4] step [1] gap [1] before [1] outside edge : tensor<?x2x1xf32, #tutti.sizes<batch>>
  %1 = tutti.windows %0 of [2] in [4] count [5] step [1] gap [1] before [1] : tensor<?x4x1xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x5x2xf32, #tutti.sizes<batch>>
}

// -----

// Nor is what is cut off an image outside of it for those who leave the rest.
// CHECK-LABEL: func.func @zeros_behind_a_part
func.func @zeros_behind_a_part(%x: tensor<?x4x1xf32, #tutti.sizes<batch>>) -> tensor<?x2x3xf32, #tutti.sizes<batch>> {
  // CHECK-COUNT-2: tutti.gather
  %0 = tutti.windows %x of [1] in [4] count [3] step [1] gap [1] before [0] : tensor<?x4x1xf32, #tutti.sizes<batch>>
  %1 = tutti.windows %0 of [3] in [3] count [2] step [1] gap [1] before [0] : tensor<?x3x1xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x2x3xf32, #tutti.sizes<batch>>
}
