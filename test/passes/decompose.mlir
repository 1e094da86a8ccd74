// RUN: tutti-opt %s --tutti-decompose --split-input-file | FileCheck %s

// A pointwise op is a map; operands broadcast by their index maps; a splat constant moves into the body.
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @pointwise
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32, #tutti.sizes<batch>>, %[[B:.*]]: tensor<4xf32>)
func.func @pointwise(%x: tensor<?x4xf32, #tutti.sizes<batch>>, %b: tensor<4xf32>) -> tensor<?x4xf32, #tutti.sizes<batch>> {
  // CHECK-NEXT: %[[SUM:.*]] = tutti.map %[[X]], %[[B]] [#[[SAME]], #[[BIAS]]]
  // CHECK-NEXT: ^bb0(%[[ONE:.*]]: f32, %[[TWO:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[ONE]], %[[TWO]] : f32
  // CHECK-NEXT: tutti.yield %[[S]] : f32
  // CHECK: tutti.map %[[SUM]] [#[[SAME]]]
  // CHECK-NEXT: ^bb0(%[[E:.*]]: f32):
  // CHECK-NEXT: %[[C:.*]] = arith.constant 2.500000e-01 : f32
  // CHECK-NEXT: arith.mulf %[[E]], %[[C]] : f32
  // CHECK-NOT: tutti.constant
  // CHECK-NOT: tutti.add
  // CHECK-NOT: tutti.mul
  %0 = tutti.add %x, %b : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4xf32>
  %1 = tutti.constant dense<0.25> : tensor<f32>
  %2 = tutti.mul %0, %1 : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<f32>
  return %2 : tensor<?x4xf32, #tutti.sizes<batch>>
}

// -----

// A constant whose elements differ stays a tensor.
// CHECK-LABEL: func.func @table
func.func @table(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[T:.*]] = tutti.constant dense<[1.000000e+00, 2.000000e+00]>
  // CHECK: tutti.map %{{.*}}, %[[T]]
  %0 = tutti.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = tutti.add %x, %0 : tensor<2xf32>, tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// A layout op is a map that hands its element on.
// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[STEP:.*]] = affine_map<(d0, d1) -> (d0 + 1, d1 * 2)>
// CHECK-LABEL: func.func @layout
// CHECK-SAME: (%[[X:.*]]: tensor<4x6xf32>)
func.func @layout(%x: tensor<4x6xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[T:.*]] = tutti.map %[[X]] [#[[SWAP]]]
  // CHECK-NEXT: ^bb0(%[[E:.*]]: f32):
  // CHECK-NEXT: tutti.yield %[[E]] : f32
  // CHECK: tutti.map %[[T]] [#[[STEP]]]
  // CHECK-NOT: tutti.transpose
  // CHECK-NOT: tutti.slice
  %0 = tutti.transpose %x [1, 0] : tensor<4x6xf32>
  %1 = tutti.slice %0 from [1, 0] size [2, 2] step [1, 2] : tensor<6x4xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// A reshape stays, as a view.
// CHECK-LABEL: func.func @view
func.func @view(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  // CHECK: %[[V:.*]] = tutti.reshape %{{.*}} : tensor<4x6xf32> -> tensor<24xf32>
  // CHECK: tutti.map %[[V]]
  %0 = tutti.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  %1 = tutti.neg %0 : tensor<24xf32>
  return %1 : tensor<24xf32>
}

// -----

// One that only drops axes of length 1 sinks below pointwise ops.
// CHECK-LABEL: func.func @sink
func.func @sink(%x: tensor<?x6x1xf32, #tutti.sizes<batch>>) -> tensor<?x6xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.map %{{.*}} -> tensor<?x6x1xf32, #tutti.sizes<batch>>
  // CHECK: %[[E:.*]] = tutti.map {{.*}} -> tensor<?x6x1xf32, #tutti.sizes<batch>>
  // CHECK: %[[V:.*]] = tutti.reshape %[[E]] : tensor<?x6x1xf32, #tutti.sizes<batch>> -> tensor<?x6xf32, #tutti.sizes<batch>>
  // CHECK: return %[[V]]
  %0 = tutti.exp %x : tensor<?x6x1xf32, #tutti.sizes<batch>>
  %1 = tutti.reshape %0 : tensor<?x6x1xf32, #tutti.sizes<batch>> -> tensor<?x6xf32, #tutti.sizes<batch>>
  %2 = tutti.constant dense<2.0> : tensor<f32>
  %3 = tutti.mul %1, %2 : tensor<?x6xf32, #tutti.sizes<batch>>, tensor<f32>
  return %3 : tensor<?x6xf32, #tutti.sizes<batch>>
}

// -----

// ... and below a head, so that the head ends the kernel of its members.
// CHECK-LABEL: func.func @below_head
func.func @below_head(%x: tensor<?x?x1xf32, #tutti.sizes<active, batch>>) -> tensor<?xf32, #tutti.sizes<batch>> {
  // CHECK: %[[M:.*]] = tutti.map
  // CHECK: %[[H:.*]] = tutti.head mean %[[M]] : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
  // CHECK: tutti.reshape %[[H]] : tensor<?x1xf32, #tutti.sizes<batch>> -> tensor<?xf32, #tutti.sizes<batch>>
  %0 = tutti.exp %x : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
  %1 = tutti.reshape %0 : tensor<?x?x1xf32, #tutti.sizes<active, batch>> -> tensor<?x?xf32, #tutti.sizes<active, batch>>
  %2 = tutti.head mean %1 : tensor<?x?xf32, #tutti.sizes<active, batch>>
  return %2 : tensor<?xf32, #tutti.sizes<batch>>
}

// -----

// A vote looks along the last axis, which must be the model's.
// CHECK-LABEL: func.func @vote
func.func @vote(%x: tensor<?x?x3x1xf32, #tutti.sizes<active, batch>>) -> tensor<?xi64, #tutti.sizes<batch>> {
  // CHECK: %[[V:.*]] = tutti.reshape
  // CHECK: tutti.head vote %[[V]]
  %0 = tutti.exp %x : tensor<?x?x3x1xf32, #tutti.sizes<active, batch>>
  %1 = tutti.reshape %0 : tensor<?x?x3x1xf32, #tutti.sizes<active, batch>> -> tensor<?x?x3xf32, #tutti.sizes<active, batch>>
  %2 = tutti.head vote %1 : tensor<?x?x3xf32, #tutti.sizes<active, batch>>
  return %2 : tensor<?xi64, #tutti.sizes<batch>>
}

// -----

// Every result is computed by an op of its own: an argument, a view of a parameter and a result that is returned twice are copied.
// CHECK-LABEL: func.func @results
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
module {
  tutti.param @w : tensor<2x2xf32>
  func.func @results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    // CHECK: %[[W:.*]] = tutti.reshape
    // CHECK: %[[N:.*]] = tutti.map %[[X]]
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: math.absf
    // CHECK: %[[A:.*]] = tutti.map %[[X]]
    // CHECK: %[[B:.*]] = tutti.map %[[W]]
    // CHECK: %[[C:.*]] = tutti.map %[[N]]
    // CHECK: return %[[N]], %[[A]], %[[B]], %[[C]]
    %w = tutti.get @w : tensor<2x2xf32>
    %0 = tutti.reshape %w : tensor<2x2xf32> -> tensor<4xf32>
    %1 = tutti.abs %x : tensor<4xf32>
    return %1, %x, %0, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A transposed value that is rows times a weight as it lies is that: such sums have an order of their own.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32, #tutti.sizes<batch>>)
module {
  tutti.param @w : tensor<8x5xf32>
  func.func @rows(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x5xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.contract %[[X]], %{{.*}} "bk,kn->bn"
    %w = tutti.get @w : tensor<8x5xf32>
    %0 = tutti.transpose %x [1, 0] : tensor<?x8xf32, #tutti.sizes<batch>>
    %1 = tutti.contract %0, %w "kb,kn->bn" : tensor<8x?xf32, #tutti.sizes<batch>>, tensor<8x5xf32>
    return %1 : tensor<?x5xf32, #tutti.sizes<batch>>
  }
}

// -----

// Windows that a product reads in place are a move of an image with its margin: lines of the image between zeros.
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1, d2)[s0] -> (d0, {{.*}}, d2 mod 8)>
module attributes {tutti.members = 1 : i64} {
  tutti.param @w : tensor<72x5xf32>
  // CHECK-LABEL: func.func @in_place
  func.func @in_place(%x: tensor<?x64x8xf32, #tutti.sizes<batch>>) -> tensor<?x64x5xf32, #tutti.sizes<batch>> {
    // CHECK: %[[LINES:.*]] = tutti.reshape %arg0 : tensor<?x64x8xf32, #tutti.sizes<batch>> -> tensor<?x512xf32, #tutti.sizes<batch>>
    // CHECK: %[[ABOVE:.*]] = tutti.map %{{.*}} : (tensor<f32>) -> tensor<?x88xf32, #tutti.sizes<batch>>
    // CHECK: %[[FIRST:.*]] = tutti.map %[[LINES]] {{.*}} -> tensor<?x64xf32, #tutti.sizes<batch>>
    // CHECK: %[[BETWEEN:.*]] = tutti.map %{{.*}} : (tensor<f32>) -> tensor<?x16xf32, #tutti.sizes<batch>>
    // CHECK: %[[ALL:.*]] = tutti.concat %[[ABOVE]], %[[FIRST]], %[[BETWEEN]], {{.*}} axis 1
    // CHECK: %[[MARGIN:.*]] = tutti.reshape %[[ALL]]
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
    // CHECK-NOT: tutti.gather
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
    // CHECK: tutti.gather
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

// The last axes that are reduced are one, and axes of one element behind them are none.
// CHECK-LABEL: func.func @reduce_in_row
func.func @reduce_in_row(%x: tensor<?x3x7x1xf32, #tutti.sizes<batch>>) -> (tensor<?x1x1x1xf32, #tutti.sizes<batch>>, tensor<?x3x1x1xf32, #tutti.sizes<batch>>, tensor<?x1x7x1xf32, #tutti.sizes<batch>>) {
  // CHECK: %[[ALL:.*]] = tutti.reshape %arg0 {{.*}} -> tensor<?x21xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reduce sum %[[ALL]] [1]
  // CHECK: %[[ROWS:.*]] = tutti.reshape %arg0 {{.*}} -> tensor<?x3x7xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reduce max %[[ROWS]] [2]
  // CHECK: tutti.reduce sum %arg0 [1]
  %0 = tutti.reduce sum %x [1, 2] : tensor<?x3x7x1xf32, #tutti.sizes<batch>>
  %1 = tutti.reduce max %x [2] : tensor<?x3x7x1xf32, #tutti.sizes<batch>>
  %2 = tutti.reduce sum %x [1] : tensor<?x3x7x1xf32, #tutti.sizes<batch>>
  return %0, %1, %2 : tensor<?x1x1x1xf32, #tutti.sizes<batch>>, tensor<?x3x1x1xf32, #tutti.sizes<batch>>, tensor<?x1x7x1xf32, #tutti.sizes<batch>>
}

// -----

// A head of values whose axis in front of the members goes is one of the members: the reshape stays before it.
// CHECK-LABEL: func.func @head_behind_a_reshape
func.func @head_behind_a_reshape(%x: tensor<1x?x3xf32, #tutti.sizes<active>>) -> tensor<3xf32> {
  // CHECK: %[[MEMBERS:.*]] = tutti.reshape %arg0 : tensor<1x?x3xf32, #tutti.sizes<active>> -> tensor<?x3xf32, #tutti.sizes<active>>
  // CHECK: tutti.head mean %[[MEMBERS]]
  %0 = tutti.reshape %x : tensor<1x?x3xf32, #tutti.sizes<active>> -> tensor<?x3xf32, #tutti.sizes<active>>
  %1 = tutti.head mean %0 : tensor<?x3xf32, #tutti.sizes<active>>
  return %1 : tensor<3xf32>
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

// -----

// Sums and products of a few elements that are chosen along the axis read them where they are; not of many, nor where the
// row is wanted by itself, or its places are not known. A sum begins with +0.
// CHECK-LABEL: func.func @reduce_chosen
func.func @reduce_chosen(%x: tensor<?x10xf32, #tutti.sizes<batch>>, %j: tensor<3xi64>) -> (tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>) {
  // CHECK: arith.mulf
  // CHECK: arith.mulf
  // CHECK: arith.addf
  // CHECK: arith.constant 0.000000e+00
  // CHECK: arith.addf
  // CHECK: tutti.reduce sum
  // CHECK: tutti.reduce max
  // CHECK: tutti.reduce prod
  // CHECK-NOT: tutti.reduce
  %i = tutti.constant dense<[0, 0, 3]> : tensor<3xi64>
  %0 = tutti.gather %x at %i axis 1 : tensor<?x10xf32, #tutti.sizes<batch>>, tensor<3xi64>
  %a = tutti.reduce prod %0 [1] : tensor<?x3xf32, #tutti.sizes<batch>>
  %1 = tutti.slice %x from [0, 0] size [-1, 2] step [1, 3] : tensor<?x10xf32, #tutti.sizes<batch>>
  %b = tutti.reduce sum %1 [1] : tensor<?x2xf32, #tutti.sizes<batch>>
  %2 = tutti.slice %x from [0, 0] size [-1, 5] step [1, 1] : tensor<?x10xf32, #tutti.sizes<batch>>
  %c = tutti.reduce sum %2 [1] : tensor<?x5xf32, #tutti.sizes<batch>>
  %3 = tutti.slice %x from [0, 0] size [-1, 3] step [1, 1] : tensor<?x10xf32, #tutti.sizes<batch>>
  %d = tutti.reduce max %3 [1] : tensor<?x3xf32, #tutti.sizes<batch>>
  %4 = tutti.gather %x at %j axis 1 : tensor<?x10xf32, #tutti.sizes<batch>>, tensor<3xi64>
  %e = tutti.reduce prod %4 [1] : tensor<?x3xf32, #tutti.sizes<batch>>
  return %a, %b, %c, %d, %e : tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
}

// -----

// x sigmoid(x) is one function of CUDA devices at bf16, if nothing else reads the sigmoid: also of one row, whose place is a constant.
module attributes {tutti.target = #tutti<target cuda>, tutti.precision = #tutti<precision bf16>} {
  // CHECK-LABEL: func.func @gates
  func.func @gates(%x: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
    // CHECK: tutti.logistic {{%[a-z0-9]+}} {gates} : f32
    %0 = tutti.sigmoid %x : tensor<1x8xf32>
    %1 = tutti.mul %0, %x : tensor<1x8xf32>, tensor<1x8xf32>
    // CHECK: tutti.logistic {{%[a-z0-9]+}} : f32
    %2 = tutti.neg %x : tensor<1x8xf32>
    %3 = tutti.sigmoid %2 : tensor<1x8xf32>
    %4 = tutti.mul %2, %3 : tensor<1x8xf32>, tensor<1x8xf32>
    %5 = tutti.add %3, %4 : tensor<1x8xf32>, tensor<1x8xf32>
    return %1, %5 : tensor<1x8xf32>, tensor<1x8xf32>
  }
}
