// RUN: tutti-opt %s --allow-unregistered-dialect --verify-diagnostics

// An op of a dialect that nobody knows is no op of a kernel.
module {
  plan.kernel @k element rows<4> weights [] {
  ^bb0(%x: tensor<4xf32>):
    // expected-error@+1 {{'foo.bar' op is no op that a kernel is made of}}
    %0 = "foo.bar"() : () -> tensor<4xf32>
    tutti.yield %0 : tensor<4xf32>
  }
}
