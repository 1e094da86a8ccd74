// What rows keep for themselves between products lies apart, where a value would lie at another stride than the one whose
// place it takes: rows go through a phase one after the other.
// RUN: %python %S/../tools/filled.py %s > %t.mlir && tutti-compile %t.mlir --target cpu --dim batch=1..128 -o %t.tutti && tutti-verify %t.tutti %t.mlir | FileCheck %s
// CHECK: ok: 3 of 3 results within their bounds

tutti.param @w : tensor<8x96xf32> {values = dense<0.375> : tensor<8x96xf32>}
tutti.param @v : tensor<96x8xf32> {values = dense<-0.25> : tensor<96x8xf32>}
func.func @main(%x: tensor<?x192xf32, #tutti.sizes<batch>> {tutti.name = "x"}, %u: tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "u"}, %t: tensor<?x192xf32, #tutti.sizes<batch>> {tutti.name = "t"}) -> (tensor<?x192xf32, #tutti.sizes<batch>> {tutti.name = "m"}, tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "o"}, tensor<?x1xf32, #tutti.sizes<batch>> {tutti.name = "q"}) {
  %a = tutti.scan sum %x : tensor<?x192xf32, #tutti.sizes<batch>>
  %m = tutti.scan sum %a : tensor<?x192xf32, #tutti.sizes<batch>>
  %w = tutti.get @w : tensor<8x96xf32>
  %b = tutti.contract %u, %w "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x96xf32>
  %n = tutti.scan sum %t : tensor<?x192xf32, #tutti.sizes<batch>>
  %v = tutti.get @v : tensor<96x8xf32>
  %o = tutti.contract %b, %v "bk,kn->bn" : tensor<?x96xf32, #tutti.sizes<batch>>, tensor<96x8xf32>
  %s = tutti.reduce sum %o [1] : tensor<?x8xf32, #tutti.sizes<batch>>
  %ns = tutti.add %n, %s : tensor<?x192xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %q = tutti.reduce sum %ns [1] : tensor<?x192xf32, #tutti.sizes<batch>>
  func.return %m, %o, %q : tensor<?x192xf32, #tutti.sizes<batch>>, tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
}
