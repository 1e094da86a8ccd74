// RUN: tutti-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected a symbol with a name, and none behind 0}}
plan.kernel @k0 element rows<4*""> weights [] {
^bb0(%x: tensor<?x4xf32, #tutti.sizes<batch>>):
  tutti.yield %x : tensor<?x4xf32, #tutti.sizes<batch>>
}

// -----

// expected-error@+1 {{'plan.kernel' op expected 'weights' that ascend, below 1, got 1}}
plan.kernel @k0 element rows<4> weights [1] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

// Of an argument and a result.
// expected-error@+1 {{'plan.kernel' op expected 'placed' that ascend, below 2, got 2}}
plan.kernel @k0 element lifted rows<4> weights [] placed [2] {
^bb0(%x: tensor<?x4x4xf32, #tutti.sizes<active>>):
  tutti.yield %x : tensor<?x4x4xf32, #tutti.sizes<active>>
}

// -----

// expected-error@+1 {{'plan.kernel' op expected a body that ends in a tutti.yield}}
plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  %0 = tutti.neg %x : tensor<4x4xf32>
}

// -----

// expected-error@+2 {{expected ::tutti::plan::Family to be one of: chain, row, element}}
// expected-error@+1 {{failed to parse Plan_FamilyAttr}}
plan.kernel @k0 convolution rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{expected a tile that is a multiple of the quantum, got 60 and 8}}
plan.kernel @k0 element rows<4> weights [] schedule<tile = 60, quantum = 8, overhead = 4, scratch = 64> {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{expected an overhead and scratch of 0 or more, got 4 and -64}}
plan.kernel @k0 element rows<4> weights [] schedule<tile = 64, quantum = 8, overhead = 4, scratch = -64> {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{expected ','}}
plan.kernel @k0 element rows<4> weights [] schedule<tile = 64, quantum = 8, overhead = 4> {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
func.func @other(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{'plan.dispatch' op expected inputs of the types 'tensor<4x4xf32>' as the kernel has them, got 'tensor<4x5xf32>'}}
  %0 = plan.dispatch @k0(%x) : (tensor<4x5xf32>) -> tensor<4x4xf32>
  return
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
func.func @other(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'plan.dispatch' op expected results of the types 'tensor<4x4xf32>' as the kernel has them, got 'tensor<4x4xi32>'}}
  %0 = plan.dispatch @k0(%x) : (tensor<4x4xf32>) -> tensor<4x4xi32>
  return
}

// -----

// expected-error@+1 {{'plan.program' op expected the smallest and the largest value of 'batch', got array<i64: 8, 1>}}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>, batch = array<i64: 8, 1>} flops<> arena 0 {
}

// -----

// expected-error@+1 {{'plan.program' op expected 'active' among the sizes, got {batch = array<i64: 1, 8>}}}
plan.program @infer target cpu sizes {batch = array<i64: 1, 8>} flops<> arena 0 {
}

// -----

// expected-error@+1 {{'plan.program' op expected an arena of 0 bytes or more, and pieces of a member or more}}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena -1 {
}

// -----

// expected-error@+1 {{'plan.program' op expected 'strips' to be a size of the call, got 'active'}}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>, batch = array<i64: 1, 8>} flops<> arena 0 attributes {strips = "active"} {
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected an offset in the arena that is a multiple of 64, got -64}}
  %x = plan.buffer arena : tensor<1xf32> {offset = -64 : i64}
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 64 {
  // expected-error@+1 {{'plan.buffer' op expected a 'port' of an input and an output, and of no other, got one of arena}}
  %x = plan.buffer arena : tensor<1xf32> port<name = "x">
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected 'param', 'value' and 'layout' of a constant only, got one of output}}
  %x = plan.buffer output : tensor<1xf32> port<name = "y"> layout raw
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected a constant's 'param' or its 'value', got both}}
  %x = plan.buffer constant : tensor<1xf32> layout raw {param = @w, value = dense<1.0> : tensor<1xf32>}
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected a constant's 'layout', and its 'param' or its 'value'}}
  %x = plan.buffer constant : tensor<1xf32> {param = @w}
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected a matrix of float32 to lie in matrices.bf16, got 'tensor<?x4xf32, #tutti.sizes<active>>'}}
  %x = plan.buffer constant : tensor<?x4xf32, #tutti.sizes<active>> layout matrices.bf16 {param = @w}
}

// -----

// Doubles lie in panels alone.
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  %w = plan.buffer constant : tensor<4x4xf64> layout panels {param = @w}
  // expected-error@+1 {{'plan.buffer' op expected a matrix of float32 to lie in matrices.f32, got 'tensor<4x4xf64>'}}
  %x = plan.buffer constant : tensor<4x4xf64> layout matrices.f32 {param = @w}
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>, batch = array<i64: 1, 8>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected its sizes to be of the program's sizes {active = array<i64: 1, 3>, batch = array<i64: 1, 8>}, got batch+1}}
  %x = plan.buffer input : tensor<?xf32, #tutti.sizes<"batch+1">> port<name = "x">
}

// -----

// expected-error@+1 {{'plan.program' op expected 'flops' to be of the program's sizes {active = array<i64: 1, 3>}, got 2*batch}}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<2*batch> arena 0 {
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.launch' op there is no kernel @k0}}
  plan.launch @k0() to ()
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  %x = plan.buffer input : tensor<4x4xf32> port<name = "x">
  // expected-error@+1 {{'plan.launch' op expected 1 buffers for the kernel's arguments and 1 for its results, got 1 and 0}}
  plan.launch @k0(%x) to ()
}

// -----

// expected-error@+1 {{expected a tile that is a multiple of the quantum, got 12 and 8}}
plan.kernel @k0 element rows<4> weights [] schedule<tile = 12, quantum = 8, overhead = 1, scratch = 64> {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.parallel' op expected launches only, got 'plan.buffer'}}
  plan.parallel {
    %x = plan.buffer input : tensor<4x4xf32> port<name = "x">
  }
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  %x = plan.buffer input : tensor<4x4xf32> port<name = "x">
  // expected-error@+1 {{'plan.launch' op expected tickets of a kernel with heads, and of no other}}
  plan.launch @k0(%x) to (%x) tickets %x
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x1xf32>):
  %0 = tutti.map %x [affine_map<(r, c)[s] -> (r, 0)>] : (tensor<4x1xf32>) -> tensor<4x?xf32, #tutti.sizes<width>> {
  ^bb0(%e: f32):
    tutti.yield %e : f32
  }
  tutti.yield %x : tensor<4x1xf32>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  %x = plan.buffer input : tensor<4x1xf32> port<name = "x">
  // expected-error@+1 {{'plan.launch' op expected the kernel @k0 to have no other sizes than the program's {active = array<i64: 1, 3>}, got 'width'}}
  plan.launch @k0(%x) to (%x)
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op attribute 'type' failed to satisfy constraint: type attribute of a ranked tensor of floats, integers of 8 to 64 bits or i1, of which the encoding has the size of each '?'}}
  %x = plan.buffer input : tensor<?xf32>
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{expected a name that is not empty}}
  %x = plan.buffer input : tensor<1xf32> port<name = "">
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{expected a head (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got 'median'}}
  %x = plan.buffer output : tensor<1xf32> port<name = "y", head = "median">
}

// -----

// expected-error@+1 {{'plan.kernel' op expected a kernel that is not lifted to be over no group, got "active.1"}}
plan.kernel @k0 element over "active.1" rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{'plan.kernel' op expected 'over' to be the size of a group, such as "active.1", got "nobody"}}
plan.kernel @k0 element lifted over "nobody" rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{'plan.kernel' op a value of type i32, expected a ranked tensor}}
plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: i32):
  tutti.yield %x : i32
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  // expected-error@+1 {{'arith.constant' op is no op that a kernel is made of}}
  %0 = arith.constant 1 : i32
  tutti.yield %x : tensor<4x4xf32>
}

// -----

// A head reads all members', a task has its own member's weights.
plan.kernel @k0 element lifted rows<4> weights [0] {
^bb0(%w: tensor<?x4x4xf32, #tutti.sizes<active>>):
  // expected-error@+1 {{'tutti.head' op is of argument 0, which a task has of its own member alone}}
  %0 = tutti.head mean %w : tensor<?x4x4xf32, #tutti.sizes<active>>
  tutti.yield %0 : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{'plan.kernel' op expected 'weights' that ascend, below 2, got 0}}
plan.kernel @k0 element rows<4> weights [0, 0] {
^bb0(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{'plan.kernel' op expected what it yields to be of rows (batch, 3) and columns, got 'tensor<4x3xf32>'}}
plan.kernel @k0 element rows<batch, 3> weights [] {
^bb0(%x: tensor<4x3xf32>):
  tutti.yield %x : tensor<4x3xf32>
}

// -----

// expected-error@+1 {{'plan.kernel' op expected what it yields to be of active.1 members, rows (4) and columns, got 'tensor<?x4x3xf32, #tutti.sizes<active>>'}}
plan.kernel @k0 element lifted over "active.1" rows<4> weights [] {
^bb0(%x: tensor<?x4x3xf32, #tutti.sizes<active>>):
  tutti.yield %x : tensor<?x4x3xf32, #tutti.sizes<active>>
}

// -----

// expected-error@+1 {{'plan.kernel' op expected a contraction in a kernel of the family chain}}
plan.kernel @k0 chain rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected an input without a head, got #plan.port<name = "x", head = "mean">}}
  %x = plan.buffer input : tensor<1xf32> port<name = "x", head = "mean">
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 64 {
  // expected-error@+1 {{'plan.buffer' op expected a 'port' of an input and an output, and of no other, got none of output}}
  %x = plan.buffer output : tensor<1xf32>
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 64 {
  // expected-error@+1 {{'plan.buffer' op expected an offset in the arena that is a multiple of 64, got 3}}
  %x = plan.buffer arena : tensor<1xf32> {offset = 3 : i64}
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected a 'value' of its type, got one of 'tensor<5xi8>'}}
  %x = plan.buffer constant : tensor<3xf32> layout raw {value = dense<1> : tensor<5xi8>}
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op there is no parameter @nobody}}
  %x = plan.buffer constant : tensor<3xf32> layout raw {param = @nobody}
}

// -----

tutti.param per_member @w : tensor<4x3xf32>
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  // expected-error@+1 {{'plan.buffer' op expected the type of the parameter @w, which is 'tensor<4x3xf32>'}}
  %x = plan.buffer constant : tensor<?x3x4xf32, #tutti.sizes<active>> layout raw {param = @w}
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  %x = plan.buffer input : tensor<4x4xi32> port<name = "x">
  // expected-error@+1 {{'plan.launch' op expected a buffer of 'tensor<4x4xf32>' as the kernel has it, got one of 'tensor<4x4xi32>'}}
  plan.launch @k0(%x) to (%x)
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  %x = plan.buffer input : tensor<4x4xf32> port<name = "x">
  %y = plan.buffer output : tensor<4x3xf32> port<name = "y">
  // expected-error@+1 {{'plan.launch' op expected a buffer of 'tensor<4x4xf32>' as the kernel has it, got one of 'tensor<4x3xf32>'}}
  plan.launch @k0(%x) to (%y)
}

// -----

plan.kernel @k0 element lifted over "active.1" rows<4> weights [] placed [1] {
^bb0(%x: tensor<4x4xf32>):
  %0 = tutti.map %x [affine_map<(m, r, c)[s] -> (r, c)>] : (tensor<4x4xf32>) -> tensor<?x4x4xf32, #tutti.sizes<active.1>> {
  ^bb0(%e: f32):
    tutti.yield %e : f32
  }
  tutti.yield %0 : tensor<?x4x4xf32, #tutti.sizes<active.1>>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 0 {
  %x = plan.buffer input : tensor<4x4xf32> port<name = "x">
  %y = plan.buffer output : tensor<?x4x4xf32, #tutti.sizes<active>> port<name = "y">
  // expected-error@+1 {{'plan.launch' op expected the kernel @k0 to have no other sizes than the program's {active = array<i64: 1, 3>}, got 'active.1'}}
  plan.launch @k0(%x) to (%y)
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 128 {
  %x = plan.buffer input : tensor<4x4xf32> port<name = "x">
  %y = plan.buffer arena : tensor<4x4xf32>
  plan.parallel {
    plan.launch @k0(%x) to (%y)
    // expected-error@+1 {{'plan.launch' op writes what another launch beside it writes}}
    plan.launch @k0(%x) to (%y)
  }
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  tutti.yield %x : tensor<4x4xf32>
}
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 128 {
  %x = plan.buffer input : tensor<4x4xf32> port<name = "x">
  %y = plan.buffer arena : tensor<4x4xf32>
  %z = plan.buffer arena : tensor<4x4xf32> {offset = 64 : i64}
  plan.parallel {
    plan.launch @k0(%x) to (%y)
    // expected-error@+1 {{'plan.launch' op reads what a launch beside it writes}}
    plan.launch @k0(%y) to (%z)
  }
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 64 {
  // expected-error@+1 {{'plan.buffer' op expected to lie in the arena of 64 bytes, from 64, got 'tensor<4x4xf32>'}}
  %y = plan.buffer arena : tensor<4x4xf32> {offset = 64 : i64}
}

// -----

// Of three members one is in a piece.
plan.program @infer target cpu sizes {active = array<i64: 1, 3>} flops<> arena 64 attributes {chunk = 1 : i64} {
  %x = plan.buffer arena : tensor<?x4x4xf32, #tutti.sizes<active>>
  // expected-error@+1 {{'plan.buffer' op expected to lie in the arena of 64 bytes, from 0, got 'tensor<?x4x4xf32, #tutti.sizes<active>>'}}
  %y = plan.buffer arena : tensor<?x4x4xf32, #tutti.sizes<active>> {whole}
}

// -----

plan.kernel @k0 element rows<4> weights [] {
^bb0(%x: tensor<4x4xf32>):
  // expected-error@+1 {{'tutti.neg' op is no op that a kernel is made of}}
  %0 = tutti.neg %x : tensor<4x4xf32>
  tutti.yield %0 : tensor<4x4xf32>
}

// -----

// expected-error@+1 {{'plan.program' op expected a body without arguments, got 1}}
plan.program @infer target cpu sizes {active = array<i64: 1, 1>} flops<> arena 0 {
^bb0(%b: !plan.buffer):
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 1>} flops<> arena 0 {
  // expected-error@+1 {{'tutti.constant' op is no op that a program is made of}}
  %0 = tutti.constant dense<1.0> : tensor<f32>
}

// -----

plan.program @infer target cpu sizes {active = array<i64: 1, 1>} flops<> arena 0 {
  // expected-error@+1 {{'plan.parallel' op expected a body without arguments, got 1}}
  plan.parallel {
  ^bb0(%b: !plan.buffer):
  }
}
