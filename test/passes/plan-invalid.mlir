// RUN: tutti-opt %s --tutti-to-kernels --tutti-to-planned --verify-diagnostics

// Each of the values fits, but not two at once.
module attributes {tutti.members = 1 : i64} {
  func.func @main(%x: tensor<1073741824x1073741824xf32> {tutti.name = "x"})
      -> (tensor<1073741824x1073741824xf32> {tutti.name = "y", tutti.head = "members"}) {
    %0 = tutti.reduce sum %x [1] : tensor<1073741824x1073741824xf32>
    %1 = tutti.sub %x, %0 : tensor<1073741824x1073741824xf32>, tensor<1073741824x1xf32>
    %2 = tutti.transpose %1 [1, 0] : tensor<1073741824x1073741824xf32>
    %3 = tutti.reduce sum %2 [1] : tensor<1073741824x1073741824xf32>
    // expected-error@+1 {{intermediate tensors of more than 2^63 bytes in all, one of them: 'tensor<1073741824x1073741824xf32>'}}
    %4 = tutti.sub %2, %3 : tensor<1073741824x1073741824xf32>, tensor<1073741824x1xf32>
    %5 = tutti.transpose %4 [1, 0] : tensor<1073741824x1073741824xf32>
    %6 = tutti.reduce sum %5 [1] : tensor<1073741824x1073741824xf32>
    %7 = tutti.sub %5, %6 : tensor<1073741824x1073741824xf32>, tensor<1073741824x1xf32>
    return %7 : tensor<1073741824x1073741824xf32>
  }
}
