func.func @main(%x: tensor<3xNxi1>) -> tensor<3xNxi1> {
  %0 = tutti.not %x : tensor<3xNxi1>
  return %0 : tensor<3xNxi1>
}
