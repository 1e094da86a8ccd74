// A chain of layers as CUDA C++: one loop over the layers, whose sizes and weights are numbers of n; what follows the sums of layers
// that are alike is written once, and of the last layer by itself.
// RUN: rm -rf %t && tutti-compile %s --target emulated --precision bf16 --dim batch=1..64 -o %t.tutti --dump-stages %t
// RUN: FileCheck %s < %t/k0_16.cu
tutti.param @w0 : tensor<32x64xf32> {values = dense<0.125> : tensor<32x64xf32>}
tutti.param @b0 : tensor<64xf32> {values = dense<0.25> : tensor<64xf32>}
tutti.param @w1 : tensor<64x64xf32> {values = dense<-0.125> : tensor<64x64xf32>}
tutti.param @b1 : tensor<64xf32> {values = dense<0.5> : tensor<64xf32>}
tutti.param @w2 : tensor<64x10xf32> {values = dense<0.0625> : tensor<64x10xf32>}
tutti.param @b2 : tensor<10xf32> {values = dense<1.0> : tensor<10xf32>}
func.func @main(%x: tensor<?x32xf32, #tutti.sizes<batch>>) -> tensor<?x10xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<32x64xf32>
  %b0 = tutti.get @b0 : tensor<64xf32>
  %w1 = tutti.get @w1 : tensor<64x64xf32>
  %b1 = tutti.get @b1 : tensor<64xf32>
  %w2 = tutti.get @w2 : tensor<64x10xf32>
  %b2 = tutti.get @b2 : tensor<10xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32x64xf32>
  %1 = tutti.add %0, %b0 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64xf32>
  %2 = tutti.relu %1 : tensor<?x64xf32, #tutti.sizes<batch>>
  %3 = tutti.contract %2, %w1 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x64xf32>
  %4 = tutti.add %3, %b1 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64xf32>
  %5 = tutti.relu %4 : tensor<?x64xf32, #tutti.sizes<batch>>
  %6 = tutti.contract %5, %w2 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x10xf32>
  %7 = tutti.add %6, %b2 : tensor<?x10xf32, #tutti.sizes<batch>>, tensor<10xf32>
  return %7 : tensor<?x10xf32, #tutti.sizes<batch>>
}

// A value in memory is a view of the struct; a weight, which comes through the ring, is looked up by whoever asks for it.
// CHECK: struct Task {
// CHECK: Shared<__nv_bfloat16> m{{[0-9]+}};
// CHECK: Global<const uint32_t> m1() const {

// CHECK: const auto layerOf = [&](int m, int n) {
// CHECK: return layerOfProduct(32, 64, t.m1(), halves,
// CHECK: return layerOfProduct(64, 64, t.m3(), halves,
// CHECK: return layerOfProduct(64, 10, t.m5(), halves,
// CHECK: if (ring.isProducer())
// CHECK-NEXT: return ring.produce();

// CHECK: for (int n = 0; n < 3; ++n) {
// CHECK: const Global<const float> from0 = known(n == 0 ? t.m2 : n == 1 ? t.m4 : t.m6);
// CHECK: multiply<Contractions>(layer, pass, ring, share, sums);
// CHECK-NEXT: if (n < 2) { // 32, ... x 64
// CHECK: storeNeighbours<true>(to0,
// CHECK: else { // 64 x 10
// CHECK: if (row < t.rows)
// CHECK-NEXT: storeNeighbours<false>(to0,
// CHECK-NOT: multiply<Contractions>
