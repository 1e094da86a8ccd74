// RUN: tutti-opt %s --tutti-decompose --tutti-numerics --tutti-fuse --split-input-file | FileCheck %s
// Rows of few columns become longer ones, where every map treats the last axis of rows and the columns alike.

// A channel has one number for all of an image, which is read as it is.
// CHECK-LABEL: func.func @image(
// CHECK-SAME: %[[X:.*]]: tensor<?x16x8x8xf32, #tutti.sizes<batch>>, %[[S:.*]]: tensor<?x16x1x1xf32, #tutti.sizes<batch>>
// CHECK: %[[LONG:.*]] = tutti.reshape %[[X]] : tensor<?x16x8x8xf32, #tutti.sizes<batch>> -> tensor<?x16x64xf32, #tutti.sizes<batch>>
// CHECK: %[[Y:.*]] = plan.dispatch @k0(%[[LONG]], %[[S]]) {{.*}} -> tensor<?x16x64xf32, #tutti.sizes<batch>>
// CHECK: tutti.reshape %[[Y]] : tensor<?x16x64xf32, #tutti.sizes<batch>> -> tensor<?x16x8x8xf32, #tutti.sizes<batch>>
// CHECK: plan.kernel @k0 element rows<batch, 16>
func.func @image(%x: tensor<?x16x8x8xf32, #tutti.sizes<batch>>, %s: tensor<?x16x1x1xf32, #tutti.sizes<batch>>) -> tensor<?x16x8x8xf32, #tutti.sizes<batch>> {
  %0 = tutti.mul %x, %s : tensor<?x16x8x8xf32, #tutti.sizes<batch>>, tensor<?x16x1x1xf32, #tutti.sizes<batch>>
  %1 = tutti.exp %0 : tensor<?x16x8x8xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x16x8x8xf32, #tutti.sizes<batch>>
}

// -----

// What is turned on the way lies evenly apart.
// CHECK-LABEL: func.func @turned(
// CHECK: plan.dispatch @k0(%{{.*}}) : (tensor<?x64x16xf32, #tutti.sizes<batch>>) -> tensor<?x16x64xf32, #tutti.sizes<batch>>
// CHECK: plan.kernel @k0 element rows<batch, 16>
func.func @turned(%x: tensor<?x64x16xf32, #tutti.sizes<batch>>) -> tensor<?x16x8x8xf32, #tutti.sizes<batch>> {
  %0 = tutti.map %x [affine_map<(b, c, h, w) -> (b, h * 8 + w, c)>] : (tensor<?x64x16xf32, #tutti.sizes<batch>>) -> tensor<?x16x8x8xf32, #tutti.sizes<batch>> {
  ^bb0(%e: f32):
    tutti.yield %e : f32
  }
  return %0 : tensor<?x16x8x8xf32, #tutti.sizes<batch>>
}

// -----

// Axis by axis, until columns fill vectors; an axis of one element is none. The batch stays the rows'.
// CHECK-LABEL: func.func @several(
// CHECK: plan.kernel @k0 element rows<batch>
// CHECK: tensor<?x36xf32, #tutti.sizes<batch>>
func.func @several(%x: tensor<?x4x3x3x1xf32, #tutti.sizes<batch>>) -> tensor<?x4x3x3x1xf32, #tutti.sizes<batch>> {
  %0 = tutti.exp %x : tensor<?x4x3x3x1xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x4x3x3x1xf32, #tutti.sizes<batch>>
}

// -----

// Not where a map reads the two in another way: here a number for each place of a row, there the rows turned.
// CHECK-LABEL: func.func @apart(
// CHECK-DAG: plan.kernel @{{k[01]}} element rows<batch, 8> weights [] {{.*}}
// CHECK-DAG: plan.kernel @{{k[01]}} element rows<batch, 4> weights [] {{.*}}
func.func @apart(%x: tensor<?x8x8xf32, #tutti.sizes<batch>>, %s: tensor<8xf32>, %t: tensor<?x6x4xf32, #tutti.sizes<batch>>)
    -> (tensor<?x8x8xf32, #tutti.sizes<batch>>, tensor<?x4x6xf32, #tutti.sizes<batch>>) {
  %0 = tutti.mul %x, %s : tensor<?x8x8xf32, #tutti.sizes<batch>>, tensor<8xf32>
  %1 = tutti.transpose %t [0, 2, 1] : tensor<?x6x4xf32, #tutti.sizes<batch>>
  %2 = tutti.exp %1 : tensor<?x4x6xf32, #tutti.sizes<batch>>
  return %0, %2 : tensor<?x8x8xf32, #tutti.sizes<batch>>, tensor<?x4x6xf32, #tutti.sizes<batch>>
}

// -----

// Nor on a device, whose threads take an element each.
module attributes {tutti.target = #tutti<target cuda>} {
  // CHECK-LABEL: func.func @device(
  // CHECK: plan.kernel @k0 element rows<batch, 4>
  func.func @device(%x: tensor<?x4x4xf32, #tutti.sizes<batch>>) -> tensor<?x4x4xf32, #tutti.sizes<batch>> {
    %0 = tutti.exp %x : tensor<?x4x4xf32, #tutti.sizes<batch>>
    return %0 : tensor<?x4x4xf32, #tutti.sizes<batch>>
  }
}
