// RUN: tutti-opt %s --tutti-vmap --split-input-file --verify-diagnostics

// expected-error@+1 {{function @f calls itself, which has no vmap rule}}
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tutti.vmap @f(%x) in [-1] out [0] size 1 : (tensor<2xf32>) -> tensor<1x2xf32>
  %1 = tutti.reshape %0 : tensor<1x2xf32> -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// expected-error@+1 {{expected a function @main, the model}}
module attributes {tutti.members = 2 : i64} {
}

// -----

module attributes {tutti.members = 2 : i64} {
  // expected-error@+1 {{'tutti.head' expected at least 2 axes for vote, got (active)}}
  func.func @main(%x: tensor<f32>) -> (tensor<f32> {tutti.heads = ["vote"]}) {
    return %x : tensor<f32>
  }
}

// -----

func.func private @g(%x: tensor<?x2xf32, #tutti.sizes<active>>) -> tensor<?x2xf32, #tutti.sizes<active.0>> {
  // expected-error@+1 {{'tutti.part' op cannot be mapped over an axis: it has no vmap rule}}
  %0 = tutti.part %x : tensor<?x2xf32, #tutti.sizes<active>> -> tensor<?x2xf32, #tutti.sizes<active.0>>
  return %0 : tensor<?x2xf32, #tutti.sizes<active.0>>
}
func.func @part(%x: tensor<3x?x2xf32, #tutti.sizes<active>>) -> tensor<3x?x2xf32, #tutti.sizes<active.0>> {
  %0 = tutti.vmap @g(%x) in [0] out [0] size 3 : (tensor<3x?x2xf32, #tutti.sizes<active>>) -> tensor<3x?x2xf32, #tutti.sizes<active.0>>
  return %0 : tensor<3x?x2xf32, #tutti.sizes<active.0>>
}

// -----

// expected-error@+1 {{expected a function @main.1, the model of group 1}}
module attributes {tutti.members = 2 : i64, tutti.groups = [array<i64: 0>, array<i64: 1>]} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {tutti.members = 2 : i64, tutti.groups = [array<i64: 0>, array<i64: 1>]} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  // expected-error@+1 {{expected @main.1 to take and give what @main does, '(tensor<4xf32>) -> tensor<4xf32>', got '(tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>'}}
  func.func @main.1(%x: tensor<3xf32>, %y: tensor<2xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// -----

// Each size fits, all of them together do not.
func.func private @inner(%x: tensor<4194304x2097152xf32>) -> tensor<2097152x4194304xf32> {
  // expected-error@+1 {{'tutti.reshape' op mapped over all axes has more than 2^63 elements: 'tensor<2097152x2097152x4194304xf32>'}}
  %0 = tutti.reshape %x : tensor<4194304x2097152xf32> -> tensor<2097152x4194304xf32>
  return %0 : tensor<2097152x4194304xf32>
}
func.func @main(%x: tensor<2097152x4194304x2097152xf32>) -> tensor<2097152x2097152x4194304xf32> {
  %0 = tutti.vmap @inner(%x) in [0] out [0] size 2097152 : (tensor<2097152x4194304x2097152xf32>) -> tensor<2097152x2097152x4194304xf32>
  return %0 : tensor<2097152x2097152x4194304xf32>
}
