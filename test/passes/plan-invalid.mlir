// RUN: tutti-opt %s --tutti-to-kernels --tutti-to-planned --verify-diagnostics

// Each of the values fits, but not two at once.
module attributes {tutti.members = 1 : i64} {
  func.func @main(%x: tensor<1073741824x1073741824xf32> {tutti.name = "x"})
      -> (tensor<1073741824x1073741824xf32> {tutti.name = "y", tutti.head = "members"}) {
    %0 = tutti.exp %x : tensor<1073741824x1073741824xf32>
    %1 = tutti.transpose %0 [1, 0] : tensor<1073741824x1073741824xf32>
    // expected-error@+1 {{intermediate tensors of more than 2^63 bytes in all, one of them: 'tensor<1073741824x1073741824xf32>'}}
    %2 = tutti.exp %1 : tensor<1073741824x1073741824xf32>
    %3 = tutti.transpose %2 [1, 0] : tensor<1073741824x1073741824xf32>
    %4 = tutti.exp %3 : tensor<1073741824x1073741824xf32>
    return %4 : tensor<1073741824x1073741824xf32>
  }
}
