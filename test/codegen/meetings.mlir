// Of three layers in a cluster the first waits for nobody, the second for the cluster's barrier, as a value goes out before it, and the
// third for what blocks give each other.
// RUN: rm -rf %t && mkdir %t && %python %S/../tools/filled.py %s > %t/m.mlir && tutti-compile %t/m.mlir --target emulated --dim batch=1..16 -o %t/a.tutti --dump-stages %t/stages
// RUN: %python -c "import sys; sys.path.insert(0, '%S/../tools'); from npyfile import save; from pathlib import Path; save(Path('%t/x.npy'), (8, 64), [i * 37 % 101 / 50 for i in range(8 * 64)])"
// RUN: for t in 0 1 2; do env TUTTI_CUDA_DRIVER=$TUTTI_LIBRARIES/libcuda-emulated.so TUTTI_CUDA_TILE=$t tutti-verify %t/a.tutti %t/m.mlir --device emulated --input x=%t/x.npy || exit 1; done

// These waits are all that there are.
// RUN: grep -E "cluster(Arrive|Wait|Sync)|handovers.wait|(task|rows)Sync" %t/stages/k0_32x2.cu | FileCheck %s --check-prefix=WAITS
// WAITS: {{^}}  clusterArriveRelaxed();
// WAITS-NEXT: {{^}}          clusterWait();
// WAITS-NEXT: {{^}}          handovers.wait(n - 1);
// WAITS-NEXT: {{^}}          clusterWait();
// WAITS-NEXT: {{^}}        taskSync(); // what others may store over
// WAITS-NEXT: {{^}}      handovers.wait(n);
// WAITS-NEXT: {{^}}      taskSync();
// WAITS-NEXT: {{^}}      taskSync();
// WAITS-NEXT: {{^}}      clusterArrive();
// WAITS-NOT: {{.}}

tutti.param @p0 : tensor<64x64xf32> {values = dense<0.125> : tensor<64x64xf32>}
tutti.param @p2 : tensor<64xf32> {values = dense<0.125> : tensor<64xf32>}
tutti.param @p3 : tensor<64xf32> {values = dense<0.125> : tensor<64xf32>}
tutti.param @p4 : tensor<64x64xf32> {values = dense<0.125> : tensor<64x64xf32>}
tutti.param @p5 : tensor<64x64xf32> {values = dense<0.125> : tensor<64x64xf32>}
func.func @main(%arg0: tensor<?x64xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x64xf32, #tutti.sizes<batch>> {tutti.name = "y"}, tensor<?x64xf32, #tutti.sizes<batch>> {tutti.name = "v"}) {
  %0 = tutti.get @p0 : tensor<64x64xf32>
  %1 = tutti.contract %arg0, %0 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x64xf32>
  %2 = tutti.reduce mean %1 [1] : tensor<?x64xf32, #tutti.sizes<batch>>
  %3 = tutti.sub %1, %2 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %4 = tutti.mul %3, %3 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %5 = tutti.reduce mean %4 [1] : tensor<?x64xf32, #tutti.sizes<batch>>
  %6 = tutti.constant dense<9.99999974E-6> : tensor<f32>
  %7 = tutti.add %5, %6 : tensor<?x1xf32, #tutti.sizes<batch>>, tensor<f32>
  %8 = tutti.sqrt %7 : tensor<?x1xf32, #tutti.sizes<batch>>
  %9 = tutti.div %3, %8 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %10 = tutti.get @p2 : tensor<64xf32>
  %11 = tutti.mul %9, %10 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64xf32>
  %12 = tutti.get @p3 : tensor<64xf32>
  %13 = tutti.add %11, %12 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64xf32>
  %14 = tutti.get @p4 : tensor<64x64xf32>
  %15 = tutti.contract %13, %14 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x64xf32>
  %16 = tutti.relu %15 : tensor<?x64xf32, #tutti.sizes<batch>>
  %17 = tutti.get @p5 : tensor<64x64xf32>
  %18 = tutti.contract %16, %17 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x64xf32>
  return %18, %13 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
}
