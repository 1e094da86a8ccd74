// RUN: env MALLOC_PERTURB_=165 tutti-opt %s --tutti-decompose --tutti-compose --split-input-file | FileCheck %s
// Single numbers.

// Numbers of numbers are one map; what reads them computes it again where a launch is dearer than that.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>} {
  // CHECK-LABEL: func.func @numbers
  // CHECK-SAME: (%[[X:.*]]: tensor<?x?x16xf32, #tutti.sizes<active, batch>>, %[[T:.*]]: tensor<f32>, %[[S:.*]]: tensor<?xf32, #tutti.sizes<active>>)
  func.func @numbers(%x: tensor<?x?x16xf32, #tutti.sizes<active, batch>>, %t: tensor<f32>, %s: tensor<?xf32, #tutti.sizes<active>>) -> tensor<?x?x16xf32, #tutti.sizes<active, batch>> {
    // CHECK-NEXT: %[[Y:.*]] = tutti.map %[[X]], %[[S]], %[[T]] [
    // CHECK: arith.negf
    // CHECK: arith.mulf
    // CHECK: math.exp
    // CHECK: arith.addf
    // CHECK-NOT: tutti.map
    // CHECK: return %[[Y]]
    %0 = tutti.neg %t : tensor<f32>
    %1 = tutti.mul %0, %s : tensor<f32>, tensor<?xf32, #tutti.sizes<active>>
    %2 = tutti.exp %1 : tensor<?xf32, #tutti.sizes<active>>
    %3 = tutti.reshape %2 : tensor<?xf32, #tutti.sizes<active>> -> tensor<?x1x1xf32, #tutti.sizes<active>>
    %4 = tutti.add %x, %3 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?x1x1xf32, #tutti.sizes<active>>
    return %4 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// On a CPU numbers are not computed again for each element; nor is a launch saved where a number is an answer.
// CHECK-LABEL: func.func @numbers_apart
func.func @numbers_apart(%x: tensor<?x?x16xf32, #tutti.sizes<active, batch>>, %t: tensor<?xf32, #tutti.sizes<active>>) -> (tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?xf32, #tutti.sizes<active>>) {
  // CHECK: %[[N:.*]] = tutti.map
  // CHECK: math.exp
  // CHECK: tutti.map
  // CHECK: arith.negf
  // CHECK: math.sin
  // CHECK: tutti.map
  // CHECK-NOT: math
  // CHECK: return %{{.*}}, %[[N]]
  %0 = tutti.exp %t : tensor<?xf32, #tutti.sizes<active>>
  %1 = tutti.neg %t : tensor<?xf32, #tutti.sizes<active>>
  %2 = tutti.sin %1 : tensor<?xf32, #tutti.sizes<active>>
  %3 = tutti.reshape %2 : tensor<?xf32, #tutti.sizes<active>> -> tensor<?x1x1xf32, #tutti.sizes<active>>
  %4 = tutti.add %x, %3 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?x1x1xf32, #tutti.sizes<active>>
  %5 = tutti.reshape %0 : tensor<?xf32, #tutti.sizes<active>> -> tensor<?x1x1xf32, #tutti.sizes<active>>
  %6 = tutti.add %4, %5 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?x1x1xf32, #tutti.sizes<active>>
  return %6, %0 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?xf32, #tutti.sizes<active>>
}
