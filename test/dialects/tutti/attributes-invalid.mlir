// RUN: tutti-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected 'tutti.members' to be a 64-bit number, 1 or more}}
module attributes {tutti.members = "ten"} {}

// -----

// expected-error@+1 {{expected 'tutti.sizes' to be the range of each size, as in {batch = array<i64: 1, 64>}}}
module attributes {tutti.sizes = {batch = 3 : i64}} {}

// -----

// expected-error@+1 {{expected 'tutti.sizes' to be the range of each size}}
module attributes {tutti.sizes = {batch = array<i64: 1>}} {}

// -----

// expected-error@+1 {{expected 'tutti.groups' to be the members of each group}}
module attributes {tutti.groups = [1]} {}

// -----

// expected-error@+1 {{expected 'tutti.chunk' to be a 64-bit number, 1 or more}}
module attributes {tutti.chunk = 0 : i64} {}

// -----

// expected-error@+1 {{expected 'tutti.scratch_per_row' to be a 64-bit number, 0 or more}}
module attributes {tutti.scratch_per_row = 4 : i32} {}

// -----

// expected-error@+1 {{expected 'tutti.target' to be "cpu" or "cuda"}}
module attributes {tutti.target = "tpu"} {}

// -----

// expected-error@+1 {{expected 'tutti.precision' to be "f32", "f32-ffma", "tf32", "bf16" or "f16"}}
module attributes {tutti.precision = "f64"} {}

// -----

// expected-error@+1 {{'tutti.member' is no attribute of a module}}
module attributes {tutti.member = 3 : i64} {}

// -----

// expected-error@+1 {{'tutti.members' is no attribute of 'func.func'}}
func.func private @f() attributes {tutti.members = 3 : i64}

// -----

// expected-error@+1 {{expected 'tutti.name' to be a string}}
func.func private @f(tensor<2xf32> {tutti.name = 1})

// -----

// expected-error@+1 {{expected 'tutti.per_member' to be without a value}}
func.func private @f(tensor<2xf32> {tutti.per_member = true})

// -----

// expected-error@+1 {{'tutti.heads' is no attribute of an input}}
func.func private @f(tensor<2xf32> {tutti.heads = ["mean"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of strings}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = [1]})

// -----

// expected-error@+1 {{'tutti.per_member' is no attribute of an output}}
func.func private @f() -> (tensor<2xf32> {tutti.per_member})
