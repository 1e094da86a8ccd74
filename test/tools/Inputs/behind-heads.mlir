// A layer, sums along both axes of what it makes, and the largest of them, twice: eight members. ELEMENT is a type.
module attributes {tutti.members = 8 : i64} {
  tutti.param @w : tensor<64x64xELEMENT> {values = [dense<1.0> : tensor<64x64xELEMENT>, dense<2.0> : tensor<64x64xELEMENT>, dense<3.0> : tensor<64x64xELEMENT>, dense<4.0> : tensor<64x64xELEMENT>, dense<5.0> : tensor<64x64xELEMENT>, dense<6.0> : tensor<64x64xELEMENT>, dense<7.0> : tensor<64x64xELEMENT>, dense<8.0> : tensor<64x64xELEMENT>]}
  func.func @main(%x: tensor<?x64xELEMENT, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x1x1xELEMENT, #tutti.sizes<batch>> {tutti.name = "a"}, tensor<?x1x1xELEMENT, #tutti.sizes<batch>> {tutti.name = "b"}) {
    %w = tutti.get @w : tensor<64x64xELEMENT>
    %0 = tutti.contract %x, %w "ab,bc->ac" : tensor<?x64xELEMENT, #tutti.sizes<batch>>, tensor<64x64xELEMENT>
    %1 = tutti.reshape %0 : tensor<?x64xELEMENT, #tutti.sizes<batch>> -> tensor<?x8x8xELEMENT, #tutti.sizes<batch>>
    %2 = tutti.transpose %1 [0, 2, 1] : tensor<?x8x8xELEMENT, #tutti.sizes<batch>>
    %3 = tutti.scan sum %2 : tensor<?x8x8xELEMENT, #tutti.sizes<batch>>
    %4 = tutti.transpose %3 [0, 2, 1] : tensor<?x8x8xELEMENT, #tutti.sizes<batch>>
    %5 = tutti.scan sum %4 : tensor<?x8x8xELEMENT, #tutti.sizes<batch>>
    %6 = tutti.reduce max %5 [1, 2] : tensor<?x8x8xELEMENT, #tutti.sizes<batch>>
    %a = tutti.relu %6 : tensor<?x1x1xELEMENT, #tutti.sizes<batch>>
    %b = tutti.relu %6 : tensor<?x1x1xELEMENT, #tutti.sizes<batch>>
    return %a, %b : tensor<?x1x1xELEMENT, #tutti.sizes<batch>>, tensor<?x1x1xELEMENT, #tutti.sizes<batch>>
  }
}
