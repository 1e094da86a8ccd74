// What a pass needs of the ones before it, and does not find, is an error that names it.
// RUN: split-file %s %t
// RUN: not tutti-opt %t/parallel.mlir --tutti-numerics 2>&1 | FileCheck %s --check-prefix=PARALLEL
// RUN: not tutti-opt %t/numerics.mlir --tutti-fuse 2>&1 | FileCheck %s --check-prefix=NUMERICS
// RUN: not tutti-opt %t/kernel.mlir --tutti-schedule 2>&1 | FileCheck %s --check-prefix=NUMERICS
// RUN: not tutti-opt %t/columns.mlir --tutti-schedule 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: not tutti-opt %t/terms.mlir --tutti-numerics 2>&1 | FileCheck %s --check-prefix=TERMS
// RUN: not tutti-opt %t/long.mlir --tutti-decompose --tutti-compose --tutti-numerics --tutti-fuse --tutti-schedule 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not tutti-opt %t/schedule.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not tutti-opt %t/members.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=MEMBERS
// RUN: not tutti-opt %t/none.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tutti-opt %t/count.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not tutti-opt %t/input.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not tutti-opt %t/output.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not tutti-opt %t/alone.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not tutti-opt %t/given.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: not tutti-opt %t/weight.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not tutti-opt %t/unknown.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tutti-opt %t/huge.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not tutti-opt %t/main.mlir --tutti-plan 2>&1 | FileCheck %s --check-prefix=MAIN

// PARALLEL: error: 'tutti.contract' op is not parallel along a size that a call decides: --tutti-parallel comes before this pass
// NUMERICS: error: 'tutti.reduce' op expected 'numerics': --tutti-numerics comes before this pass
// COLUMNS: error: expected results for values whose rows have no fixed length (tutti-fuse makes them)
// TERMS: error: 'tutti.contract' op sums more terms than there are numbers
// LONG: error: rows so long that a thread would keep {{[0-9]+}} bytes of values
// SCHEDULE: error: 'plan.kernel' op expected a schedule: --tutti-schedule comes before this pass
// WEIGHT: error: 'plan.kernel' op argument 1 is multiplied by the rule panels, which is for weights
// MEMBERS: error: 'plan.kernel' op runs over 'active', but the module does not say how many members that are: expected tutti.members
// NONE: error: 'plan.dispatch' op there is no kernel @k0
// COUNT: error: the module does not say how many members there are: expected tutti.members
// INPUT: error: expected argument 1 of @main to have a name, as in {tutti.name = "x"}
// OUTPUT: error: expected result 0 of @main to have a name, as in {tutti.name = "x"}
// ALONE: error: 'tutti.exp' op is in no kernel: --tutti-decompose and --tutti-fuse come before this pass
// GIVEN: error: expected a kernel to make what @main gives: --tutti-decompose comes before this pass
// UNKNOWN: error: input 'x' of 'tensor<?x8xf32, #tutti.sizes<batch>>': the module does not say how large 'batch' can be; expected it in tutti.sizes
// HUGE: error: input 'x' of more than 2^63 bytes: 'tensor<?x8xf32, #tutti.sizes<batch>>'; bind a smaller range with --dim
// MAIN: error: expected a function @main, the model

//--- parallel.mlir
func.func @main(%x: tensor<?x4xf32, #tutti.sizes<batch>>, %y: tensor<4x?xf32, #tutti.sizes<batch>>) -> tensor<4x4xf32> {
  %0 = tutti.contract %y, %x "ab,bc->ac" : tensor<4x?xf32, #tutti.sizes<batch>>, tensor<?x4xf32, #tutti.sizes<batch>>
  return %0 : tensor<4x4xf32>
}
//--- numerics.mlir
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %0 = tutti.reduce sum %x [1] : tensor<4x8xf32>
  return %0 : tensor<4x1xf32>
}
//--- kernel.mlir
plan.kernel @k0 row rows<4> weights [] {
^bb0(%x: tensor<4x8xf32>):
  %0 = tutti.reduce sum %x [1] : tensor<4x8xf32>
  tutti.yield %0 : tensor<4x1xf32>
}
//--- columns.mlir
plan.kernel @k0 element rows<1> weights [] {
^bb0(%x: tensor<2x?xf32, #tutti.sizes<batch>>):
  %0 = tutti.reduce sum %x [0] numerics<rule = chain> : tensor<2x?xf32, #tutti.sizes<batch>>
  %1 = tutti.map %0 [affine_map<(r, c)[s] -> (r, c)>] : (tensor<1x?xf32, #tutti.sizes<batch>>) -> tensor<1x?xf32, #tutti.sizes<batch>> {
  ^bb0(%e: f32):
    %s = arith.mulf %e, %e : f32
    tutti.yield %s : f32
  }
  tutti.yield %1 : tensor<1x?xf32, #tutti.sizes<batch>>
}
//--- schedule.mlir
plan.kernel @k0 row rows<4> weights [] {
^bb0(%x: tensor<4x8xf32>):
  %0 = tutti.reduce sum %x [1] numerics<rule = lanes> : tensor<4x8xf32>
  tutti.yield %0 : tensor<4x1xf32>
}
func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}) -> (tensor<4x1xf32> {tutti.name = "y"}) {
  %0 = plan.dispatch @k0(%x) : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
//--- members.mlir
plan.kernel @k0 row lifted rows<4> weights [] schedule<tile = 8, quantum = 8, overhead = 1, scratch = 64> {
^bb0(%x: tensor<?x4x8xf32, #tutti.sizes<active>>):
  %0 = tutti.reduce sum %x [2] numerics<rule = lanes> : tensor<?x4x8xf32, #tutti.sizes<active>>
  tutti.yield %0 : tensor<?x4x1xf32, #tutti.sizes<active>>
}
func.func @main(%x: tensor<?x4x8xf32, #tutti.sizes<active>> {tutti.name = "x"}) -> (tensor<?x4x1xf32, #tutti.sizes<active>> {tutti.name = "y"}) {
  %0 = plan.dispatch @k0(%x) : (tensor<?x4x8xf32, #tutti.sizes<active>>) -> tensor<?x4x1xf32, #tutti.sizes<active>>
  return %0 : tensor<?x4x1xf32, #tutti.sizes<active>>
}
//--- none.mlir
func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}) -> (tensor<4x1xf32> {tutti.name = "y"}) {
  %0 = plan.dispatch @k0(%x) : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
//--- count.mlir
func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}) -> (tensor<4x8xf32> {tutti.name = "y"}) {
  return %x : tensor<4x8xf32>
}
//--- input.mlir
module attributes {tutti.members = 1 : i64} {
  func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}, %y: tensor<4x3xf32>) -> (tensor<4x8xf32> {tutti.name = "y"}) {
    return %x : tensor<4x8xf32>
  }
}
//--- output.mlir
module attributes {tutti.members = 1 : i64} {
  func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}) -> tensor<4x8xf32> {
    return %x : tensor<4x8xf32>
  }
}
//--- alone.mlir
module attributes {tutti.members = 1 : i64} {
  func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}) -> (tensor<4x8xf32> {tutti.name = "y"}) {
    %0 = tutti.exp %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
//--- given.mlir
module attributes {tutti.members = 1 : i64} {
  func.func @main(%x: tensor<4x8xf32> {tutti.name = "x"}) -> (tensor<4x8xf32> {tutti.name = "y"}) {
    return %x : tensor<4x8xf32>
  }
}
//--- unknown.mlir
module attributes {tutti.members = 1 : i64} {
  func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
    return %x : tensor<?x8xf32, #tutti.sizes<batch>>
  }
}
//--- huge.mlir
module attributes {tutti.members = 1 : i64, tutti.sizes = {batch = array<i64: 1, 1000000000000000000>}} {
  func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
    return %x : tensor<?x8xf32, #tutti.sizes<batch>>
  }
}
//--- main.mlir
module attributes {tutti.members = 1 : i64} {
}

//--- terms.mlir
func.func @main(%x: tensor<4294967296x4294967296xf32>, %y: tensor<4294967296x4294967296xf32>) -> tensor<f32> {
  %r = tutti.contract %x, %y "ab,ab->" : tensor<4294967296x4294967296xf32>, tensor<4294967296x4294967296xf32>
  return %r : tensor<f32>
}

//--- long.mlir
module attributes {tutti.members = 2 : i64, tutti.sizes = {batch = array<i64: 1, 4>}} {
  func.func @main(%x: tensor<?x1xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x1xf32, #tutti.sizes<batch>> {tutti.name = "o"}) {
    %b = tutti.broadcast %x : tensor<?x1xf32, #tutti.sizes<batch>> -> tensor<?x2305843009213693952xf32, #tutti.sizes<batch>>
    %s = tutti.scan sum %b : tensor<?x2305843009213693952xf32, #tutti.sizes<batch>>
    %r = tutti.reduce max %s [1] : tensor<?x2305843009213693952xf32, #tutti.sizes<batch>>
    return %r : tensor<?x1xf32, #tutti.sizes<batch>>
  }
}

//--- weight.mlir
module attributes {tutti.members = 1 : i64} {
  func.func @main(%x: tensor<4x3xf32> {tutti.name = "x"}, %w: tensor<3x5xf32> {tutti.name = "w"}) -> (tensor<4x5xf32> {tutti.name = "y"}) {
    %0 = plan.dispatch @k0(%x, %w) : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
  plan.kernel @k0 chain rows<4> weights [] schedule<tile = 64, quantum = 8, overhead = 4, scratch = 64> {
  ^bb0(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>):
    %0 = tutti.contract %x, %w "bk,kn->bn" numerics<rule = panels, chunk = 3> : tensor<4x3xf32>, tensor<3x5xf32>
    tutti.yield %0 : tensor<4x5xf32>
  }
}
