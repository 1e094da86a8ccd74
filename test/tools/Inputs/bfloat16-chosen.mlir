// Of bfloat16: a sum of a row that is chosen for a column of a product, and is a result. LLVM would hold it as a float.
module attributes {tutti.members = 1 : i64, tutti.sizes = {batch = array<i64: 1, 64>}} {
  func.func @main(%arg0: tensor<?x54xbf16, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?xbf16, #tutti.sizes<batch>> {tutti.name = "y"}, tensor<?x1xbf16, #tutti.sizes<batch>> {tutti.name = "z"}) {
    %0 = tutti.cast %arg0 : tensor<?x54xbf16, #tutti.sizes<batch>> -> tensor<?x54xf32, #tutti.sizes<batch>>
    %1 = tutti.mul %0, %0 : tensor<?x54xf32, #tutti.sizes<batch>>, tensor<?x54xf32, #tutti.sizes<batch>>
    %2 = tutti.reduce sum %1 [1] : tensor<?x54xf32, #tutti.sizes<batch>>
    %3 = tutti.sqrt %2 : tensor<?x1xf32, #tutti.sizes<batch>>
    %4 = tutti.cast %3 : tensor<?x1xf32, #tutti.sizes<batch>> -> tensor<?x1xbf16, #tutti.sizes<batch>>
    %5 = tutti.constant dense<1.179690e+00> : tensor<bf16>
    %6 = tutti.mul %4, %5 : tensor<?x1xbf16, #tutti.sizes<batch>>, tensor<bf16>
    %7 = tutti.concat %4, %6, %arg0, %6 axis 1 : tensor<?x1xbf16, #tutti.sizes<batch>>, tensor<?x1xbf16, #tutti.sizes<batch>>, tensor<?x54xbf16, #tutti.sizes<batch>>, tensor<?x1xbf16, #tutti.sizes<batch>>
    %8 = tutti.reduce prod %7 [1] : tensor<?x57xbf16, #tutti.sizes<batch>>
    %9 = tutti.reshape %8 : tensor<?x1xbf16, #tutti.sizes<batch>> -> tensor<?xbf16, #tutti.sizes<batch>>
    return %9, %4 : tensor<?xbf16, #tutti.sizes<batch>>, tensor<?x1xbf16, #tutti.sizes<batch>>
  }
}

