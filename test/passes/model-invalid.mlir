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

func.func @main(%x: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  // expected-error@+1 {{'func.constant' op is no op that a model is made of}}
  %f = func.constant @f : (tensor<4xf32>) -> tensor<4xf32>
  return %f : (tensor<4xf32>) -> tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{an argument of function @main: a value of type i32, expected a ranked tensor}}
func.func @main(%x: i32) -> i32 {
  return %x : i32
}

// -----

// expected-error@+1 {{an argument of function @main: elements of type index are not supported}}
func.func @main(%x: tensor<4xindex>) -> tensor<4xindex> {
  return %x : tensor<4xindex>
}

// -----

// expected-error@+1 {{expected a '?' to be of a size such as batch or 4*batch, got 7}}
func.func @main(%x: tensor<?xf32, #tutti.sizes<7>>) -> tensor<?xf32, #tutti.sizes<7>> {
  return %x : tensor<?xf32, #tutti.sizes<7>>
}

// -----

// expected-error@+1 {{expected a size of 0 or more, got -2*b}}
func.func @main(%x: tensor<?xf32, #tutti.sizes<-2*b>>) -> tensor<?xf32, #tutti.sizes<-2*b>> {
  return %x : tensor<?xf32, #tutti.sizes<-2*b>>
}

// -----

// expected-error@+1 {{expected valid keyword or string}}
func.func @main(%x: tensor<?xf32, #tutti.sizes<1*4>>) -> tensor<?xf32, #tutti.sizes<1*4>> {
  return %x : tensor<?xf32, #tutti.sizes<1*4>>
}

// -----

// expected-error@+1 {{expected valid keyword or string}}
func.func @main(%x: tensor<?xf32, #tutti.sizes<4*4>>) -> tensor<?xf32, #tutti.sizes<4*4>> {
  return %x : tensor<?xf32, #tutti.sizes<4*4>>
}

// -----

// expected-error@+1 {{expected valid keyword or string}}
func.func @main(%x: tensor<?xf32, #tutti.sizes<batch*4>>) -> tensor<?xf32, #tutti.sizes<batch*4>> {
  return %x : tensor<?xf32, #tutti.sizes<batch*4>>
}

// -----

// expected-error@+1 {{expected the size of each of 0 '?', got 1 sizes}}
func.func @main(%x: tensor<4xf32, #tutti.sizes<junk>>) -> tensor<4xf32, #tutti.sizes<junk>> {
  return %x : tensor<4xf32, #tutti.sizes<junk>>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32>: expected the size of each '?' in its encoding, as in #tutti.sizes<batch>}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error@+1 {{expected the size of each of 0 '?', got 0 sizes}}
func.func @main(%x: tensor<4xf32, #tutti.sizes<>>) -> tensor<4xf32, #tutti.sizes<>> {
  return %x : tensor<4xf32, #tutti.sizes<>>
}

// -----

// expected-error@+1 {{an argument of function @main: tensor<?xf32, "b">: expected the size of each '?' in its encoding, as in #tutti.sizes<batch>}}
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

// expected-error@+1 {{'tutti.param' op attribute 'type' failed to satisfy constraint: type attribute of a ranked tensor of floats, integers of 8 to 64 bits or i1, of which the encoding has the size of each '?'}}
tutti.param @w : tensor<4xf8E4M3FN>
