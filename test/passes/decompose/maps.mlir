// RUN: tutti-opt %s --tutti-decompose --split-input-file | FileCheck %s
// Pointwise and layout ops as maps.

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
