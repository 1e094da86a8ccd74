// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two layers that need nothing of each other: rows of much scratch memory and few columns, and the reverse.
tutti.param @wa : tensor<1184x32xf32> {values = dense<0.01> : tensor<1184x32xf32>}
tutti.param @wb : tensor<64x256xf32> {values = dense<0.02> : tensor<64x256xf32>}
func.func @main(%x: tensor<?x1184xf32, #tutti.sizes<batch>>, %z: tensor<?x64xf32, #tutti.sizes<rows>>) -> (tensor<?x32xf32, #tutti.sizes<batch>>, tensor<?x256xf32, #tutti.sizes<rows>>) {
  %wa = tutti.get @wa : tensor<1184x32xf32>
  %wb = tutti.get @wb : tensor<64x256xf32>
  %r = tutti.exp %x : tensor<?x1184xf32, #tutti.sizes<batch>>
  %y = tutti.contract %r, %wa "ab,bc->ac" : tensor<?x1184xf32, #tutti.sizes<batch>>, tensor<1184x32xf32>
  %u = tutti.contract %z, %wb "ab,bc->ac" : tensor<?x64xf32, #tutti.sizes<rows>>, tensor<64x256xf32>
  func.return %y, %u : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<?x256xf32, #tutti.sizes<rows>>
}
