// RUN: tutti-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = tutti.reshape %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = tutti.broadcast %0 : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = tutti.transpose %1 [0, 1] : tensor<2x3xf32>
  %3 = tutti.slice %2 from [0, 0] size [-1, 3] step [1, 1] : tensor<2x3xf32>
  %4 = tutti.cast %3 : tensor<2x3xf32> -> tensor<2x3xf32>
  %5 = tutti.concat %4 axis 1 : tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}

// A choice between a value and itself; where the condition is of more elements, it makes more of it.
// CHECK-LABEL: @choices
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>
func.func @choices(%x: tensor<2x3xf32>, %c: tensor<3xi1>, %d: tensor<4x2x3xi1>) -> (tensor<2x3xf32>, tensor<4x2x3xf32>) {
  // CHECK-NEXT: %[[MORE:.*]] = tutti.select
  // CHECK-NEXT: return %[[X]], %[[MORE]]
  %0 = tutti.select %c, %x, %x : tensor<3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
  %1 = tutti.select %d, %x, %x : tensor<4x2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: @reversed_is_no_identity
func.func @reversed_is_no_identity(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: tutti.slice
  %0 = tutti.slice %x from [2] size [3] step [-1] : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @reshape_of_reshape
func.func @reshape_of_reshape(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: tutti.reshape %{{.*}} : tensor<2x6xf32> -> tensor<4x3xf32>
  %0 = tutti.reshape %x : tensor<2x6xf32> -> tensor<12xf32>
  %1 = tutti.reshape %0 : tensor<12xf32> -> tensor<4x3xf32>
  // CHECK-NEXT: return
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: @transpose_of_transpose
func.func @transpose_of_transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  // CHECK-NEXT: tutti.transpose %{{.*}} [2, 0, 1] : tensor<2x3x4xf32>
  %0 = tutti.transpose %x [1, 2, 0] : tensor<2x3x4xf32>
  %1 = tutti.transpose %0 [1, 2, 0] : tensor<3x4x2xf32>
  // CHECK-NEXT: return
  return %1 : tensor<4x2x3xf32>
}

// CHECK-LABEL: @constants_merge
func.func @constants_merge() -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-COUNT-1: tutti.constant
  // CHECK-NOT: tutti.constant
  %a = tutti.constant dense<1.0> : tensor<2xf32>
  %b = tutti.constant dense<1.0> : tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}
