// What is no model is an error of every pass, whatever has run before it.
// RUN: tutti-opt %s --tutti-vmap --split-input-file --verify-diagnostics
// RUN: tutti-opt %s --tutti-parallel --split-input-file --verify-diagnostics
// RUN: tutti-opt %s --tutti-decompose --split-input-file --verify-diagnostics
// RUN: tutti-opt %s --tutti-compose --split-input-file --verify-diagnostics
// RUN: tutti-opt %s --tutti-numerics --split-input-file --verify-diagnostics
// RUN: tutti-opt %s --tutti-fuse --split-input-file --verify-diagnostics
// RUN: tutti-opt %s --tutti-schedule --split-input-file --verify-diagnostics
// RUN: tutti-opt %s --tutti-plan --split-input-file --verify-diagnostics

// expected-error@+1 {{expected function @main to have a body of one block}}
func.func private @main(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error@+1 {{an argument of function @main: a value of type i32, expected a ranked tensor}}
func.func @main(%x: i32) -> i32 {
  return %x : i32
}

// -----

// expected-error@+1 {{an argument of function @main: elements of type tensor<4xindex> are not supported}}
func.func @main(%x: tensor<4xindex>) -> tensor<4xindex> {
  return %x : tensor<4xindex>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, ["7"]>: an encoding lists sizes such as "batch" or "4*batch"}}
func.func @main(%x: tensor<?xf32, ["7"]>) -> tensor<?xf32, ["7"]> {
  return %x : tensor<?xf32, ["7"]>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, ["-2*b"]>: an encoding lists sizes such as "batch" or "4*batch"}}
func.func @main(%x: tensor<?xf32, ["-2*b"]>) -> tensor<?xf32, ["-2*b"]> {
  return %x : tensor<?xf32, ["-2*b"]>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, ["1*4"]>: an encoding lists sizes such as "batch" or "4*batch"}}
func.func @main(%x: tensor<?xf32, ["1*4"]>) -> tensor<?xf32, ["1*4"]> {
  return %x : tensor<?xf32, ["1*4"]>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, ["4*4"]>: an encoding lists sizes such as "batch" or "4*batch"}}
func.func @main(%x: tensor<?xf32, ["4*4"]>) -> tensor<?xf32, ["4*4"]> {
  return %x : tensor<?xf32, ["4*4"]>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, ["batch*4"]>: an encoding lists sizes such as "batch" or "4*batch"}}
func.func @main(%x: tensor<?xf32, ["batch*4"]>) -> tensor<?xf32, ["batch*4"]> {
  return %x : tensor<?xf32, ["batch*4"]>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, ["1*batch"]>: an encoding writes "1*batch" as "batch"}}
func.func @main(%x: tensor<?xf32, ["1*batch"]>) -> tensor<?xf32, ["1*batch"]> {
  return %x : tensor<?xf32, ["1*batch"]>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, ["seq*batch"]>: an encoding writes "seq*batch" as "batch*seq"}}
func.func @main(%x: tensor<?xf32, ["seq*batch"]>) -> tensor<?xf32, ["seq*batch"]> {
  return %x : tensor<?xf32, ["seq*batch"]>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<4xf32, ["junk"]>: the encoding names the size of each '?', expected 0 names}}
func.func @main(%x: tensor<4xf32, ["junk"]>) -> tensor<4xf32, ["junk"]> {
  return %x : tensor<4xf32, ["junk"]>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32>: the encoding names the size of each '?', expected 1 names}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<4xf32, []> has an encoding that does not list sizes}}
func.func @main(%x: tensor<4xf32, []>) -> tensor<4xf32, []> {
  return %x : tensor<4xf32, []>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, "b"> has an encoding that does not list sizes}}
func.func @main(%x: tensor<?xf32, "b">) -> tensor<?xf32, "b"> {
  return %x : tensor<?xf32, "b">
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'vector.yield' op expected the body of function @main to end in a func.return}}
  vector.yield %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'arith.addf' op is no op that a model is made of}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'tutti.constant' op is none that a model's module has, expected functions, parameters and kernels}}
%0 = tutti.constant dense<1.0> : tensor<4xf32>

// -----

// expected-error@+1 {{'tutti.param' op elements of type tensor<4xf8E4M3FN> are not supported}}
tutti.param @w : tensor<4xf8E4M3FN>
