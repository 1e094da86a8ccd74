// One weight that two ops ask for is one weight, shared or not.
// RUN: tutti-compile %s -o %t.tutti && tutti-verify %t.tutti %s | FileCheck %s
// RUN: tutti-compile %s --share none -o %t.tutti && tutti-verify %t.tutti %s | FileCheck %s
// CHECK: ok: 1 of 1 results
tutti.param @w : tensor<f32> {values = dense<0.5> : tensor<f32>}
tutti.param @v : tensor<2x2xf32> {values = dense<[[0.5, 1.0], [1.5, 2.0]]> : tensor<2x2xf32>}
func.func @main(%x: tensor<?x2xf32, #tutti.sizes<batch>>) -> tensor<?x2xf32, #tutti.sizes<batch>> {
  %0 = tutti.get @w : tensor<f32>
  %1 = tutti.get @w : tensor<f32>
  %2 = tutti.get @v : tensor<2x2xf32>
  %3 = tutti.get @v : tensor<2x2xf32>
  %4 = tutti.mul %x, %0 : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<f32>
  %5 = tutti.mul %4, %1 : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<f32>
  %6 = tutti.contract %5, %2 "bk,kn->bn" : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2x2xf32>
  %7 = tutti.contract %6, %3 "bk,kn->bn" : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2x2xf32>
  func.return %7 : tensor<?x2xf32, #tutti.sizes<batch>>
}
