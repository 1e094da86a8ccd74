// Vectors that some layers read of their columns and others do not: which, n says. They are held by value beside the function that
// reads them: NVRTC may keep the whole Task in local memory where that has its address.
// RUN: rm -rf %t && tutti-compile %s --target emulated --precision bf16 --dim batch=1..64 -o %t.tutti --dump-stages %t
// RUN: FileCheck %s < %t/k0_16.cu
tutti.param @w0 : tensor<8x32xf32> {values = dense<0.125> : tensor<8x32xf32>}
tutti.param @b0 : tensor<32xf32> {values = dense<0.25> : tensor<32xf32>}
tutti.param @w1 : tensor<32x64xf32> {values = dense<-0.125> : tensor<32x64xf32>}
tutti.param @b1 : tensor<64xf32> {values = dense<0.5> : tensor<64xf32>}
tutti.param @w2 : tensor<64x32xf32> {values = dense<0.0625> : tensor<64x32xf32>}
tutti.param @b2 : tensor<32xf32> {values = dense<0.75> : tensor<32xf32>}
func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x32xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<8x32xf32>
  %b0 = tutti.get @b0 : tensor<32xf32>
  %w1 = tutti.get @w1 : tensor<32x64xf32>
  %b1 = tutti.get @b1 : tensor<64xf32>
  %w2 = tutti.get @w2 : tensor<64x32xf32>
  %b2 = tutti.get @b2 : tensor<32xf32>
  %s = tutti.constant dense<[0.5, 0.53125, 0.5625, 0.59375, 0.625, 0.65625, 0.6875, 0.71875, 0.75, 0.78125, 0.8125, 0.84375, 0.875, 0.90625, 0.9375, 0.96875, 1.0, 1.03125, 1.0625, 1.09375, 1.125, 1.15625, 1.1875, 1.21875, 1.25, 1.28125, 1.3125, 1.34375, 1.375, 1.40625, 1.4375, 1.46875]> : tensor<32xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x32xf32>
  %1 = tutti.add %0, %b0 : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %2 = tutti.mul %1, %s : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %3 = tutti.contract %2, %w1 "bk,kn->bn" : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32x64xf32>
  %4 = tutti.add %3, %b1 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64xf32>
  %5 = tutti.relu %4 : tensor<?x64xf32, #tutti.sizes<batch>>
  %6 = tutti.contract %5, %w2 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x32xf32>
  %7 = tutti.add %6, %b2 : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %8 = tutti.mul %7, %s : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  return %8 : tensor<?x32xf32, #tutti.sizes<batch>>
}

// CHECK: const Global<const float> from0 = known(n == 0 ? t.m{{[0-9]+}} : n == 1 ? t.m{{[0-9]+}} : t.m{{[0-9]+}});
// CHECK-NEXT: const Global<const float> held0 = t.m{{[0-9]+}};
// CHECK-NEXT: const auto columns = [&, from0, n, held0](int column) {
// CHECK-NEXT: struct { float c0; float c1; } of{from0[column], n % 2 == 0 ? held0[column] : float()};
