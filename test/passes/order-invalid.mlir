// What a pass needs of the ones before it, and does not find, is an error that names it.
// RUN: split-file %s %t
// RUN: not tutti-opt %t/numerics.mlir --tutti-fuse 2>&1 | FileCheck %s --check-prefix=NUMERICS
// RUN: not tutti-opt %t/kernel.mlir --tutti-schedule 2>&1 | FileCheck %s --check-prefix=NUMERICS
// RUN: not tutti-opt %t/schedule.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not tutti-opt %t/members.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=MEMBERS
// RUN: not tutti-opt %t/none.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=NONE

// NUMERICS: error: 'tutti.reduce' op expected 'numerics': --tutti-numerics comes before this pass
// SCHEDULE: error: 'plan.kernel' op expected a schedule: --tutti-schedule comes before this pass
// MEMBERS: error: 'plan.kernel' op runs over 'active', but the module does not say how many members that are: expected tutti.members
// NONE: error: 'plan.dispatch' op there is no kernel @k0

//--- numerics.mlir
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %0 = tutti.reduce sum %x [1] : tensor<4x8xf32>
  return %0 : tensor<4x1xf32>
}
//--- kernel.mlir
plan.kernel @k0 row rows ["4"] weights [] {
^bb0(%x: tensor<4x8xf32>):
  %0 = tutti.reduce sum %x [1] : tensor<4x8xf32>
  tutti.yield %0 : tensor<4x1xf32>
}
//--- schedule.mlir
plan.kernel @k0 row rows ["4"] weights [] {
^bb0(%x: tensor<4x8xf32>):
  %0 = tutti.reduce sum %x [1] numerics<rule = lanes> : tensor<4x8xf32>
  tutti.yield %0 : tensor<4x1xf32>
}
func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}) -> (tensor<4x1xf32> {tutti.name = "y"}) {
  %0 = plan.dispatch @k0(%x) : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
//--- members.mlir
plan.kernel @k0 row lifted rows ["4"] weights [] schedule<tile = 8, quantum = 8, overhead = 1, scratch = 64> {
^bb0(%x: tensor<?x4x8xf32, ["active"]>):
  %0 = tutti.reduce sum %x [2] numerics<rule = lanes> : tensor<?x4x8xf32, ["active"]>
  tutti.yield %0 : tensor<?x4x1xf32, ["active"]>
}
func.func @main(%x: tensor<?x4x8xf32, ["active"]> {tutti.name = "x"}) -> (tensor<?x4x1xf32, ["active"]> {tutti.name = "y"}) {
  %0 = plan.dispatch @k0(%x) : (tensor<?x4x8xf32, ["active"]>) -> tensor<?x4x1xf32, ["active"]>
  return %0 : tensor<?x4x1xf32, ["active"]>
}
//--- none.mlir
func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}) -> (tensor<4x1xf32> {tutti.name = "y"}) {
  %0 = plan.dispatch @k0(%x) : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
