// RUN: tutti-opt %s | tutti-opt | FileCheck %s
// RUN: tutti-opt %s --mlir-print-op-generic | tutti-opt | FileCheck %s

// CHECK: tutti.param @shared : tensor<3xf32>
tutti.param @shared : tensor<3xf32>
// CHECK: tutti.param per_member @own : tensor<4x3xf32>
tutti.param per_member @own : tensor<4x3xf32>

// CHECK-LABEL: @get
func.func @get() -> (tensor<4x3xf32>, tensor<?x4x3xf32, #tutti.sizes<active>>) {
  // CHECK: tutti.get @own : tensor<4x3xf32>
  %one = tutti.get @own : tensor<4x3xf32>
  // CHECK: tutti.get @own : tensor<?x4x3xf32, #tutti.sizes<active>>
  %all = tutti.get @own : tensor<?x4x3xf32, #tutti.sizes<active>>
  return %one, %all : tensor<4x3xf32>, tensor<?x4x3xf32, #tutti.sizes<active>>
}

// CHECK-LABEL: @constant
func.func @constant() -> tensor<2xf32> {
  // CHECK: tutti.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %c = tutti.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %c : tensor<2xf32>
}

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<?x3xf32, #tutti.sizes<batch>>, %b: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK: tutti.neg %{{.*}} : tensor<?x3xf32, #tutti.sizes<batch>>
  %0 = tutti.neg %x : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.abs
  %1 = tutti.abs %0 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.sign
  %2 = tutti.sign %1 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.sqrt
  %3 = tutti.sqrt %2 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reciprocal
  %4 = tutti.reciprocal %3 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.exp
  %5 = tutti.exp %4 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.log
  %6 = tutti.log %5 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.erf
  %7 = tutti.erf %6 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.sin
  %8 = tutti.sin %7 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.cos
  %9 = tutti.cos %8 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.tanh
  %10 = tutti.tanh %9 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.sigmoid
  %11 = tutti.sigmoid %10 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.relu
  %12 = tutti.relu %11 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.softplus
  %13 = tutti.softplus %12 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.mish
  %14 = tutti.mish %13 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.gelu
  %gelu = tutti.gelu %14 : tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.not %{{.*}} : tensor<4xi1>
  %15 = tutti.not %b : tensor<4xi1>
  return %15 : tensor<4xi1>
}

// CHECK-LABEL: @binary
// CHECK-SAME: -> tensor<?x3xi1, #tutti.sizes<batch>>
func.func @binary(%x: tensor<?x3xf32, #tutti.sizes<batch>>, %y: tensor<3xf32>, %i: tensor<3xi32>) -> tensor<?x3xi1, #tutti.sizes<batch>> {
  // CHECK: tutti.add %{{.*}}, %{{.*}} : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
  %0 = tutti.add %x, %y : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
  // CHECK: tutti.sub
  %1 = tutti.sub %0, %y : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
  // CHECK: tutti.mul
  %2 = tutti.mul %y, %1 : tensor<3xf32>, tensor<?x3xf32, #tutti.sizes<batch>>
  // CHECK: tutti.div
  %3 = tutti.div %2, %y : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
  // CHECK: tutti.pow %{{.*}} : tensor<3xi32>, tensor<3xi32>
  %4 = tutti.pow %i, %i : tensor<3xi32>, tensor<3xi32>
  // CHECK: tutti.min
  %5 = tutti.min %3, %y : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
  // CHECK: tutti.max
  %6 = tutti.max %5, %y : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
  // CHECK: tutti.equal
  %7 = tutti.equal %4, %i : tensor<3xi32>, tensor<3xi32>
  // CHECK: tutti.greater
  %8 = tutti.greater %6, %y : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
  // CHECK: tutti.greater_equal
  %9 = tutti.greater_equal %6, %y : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>
  // CHECK: tutti.and
  %10 = tutti.and %8, %7 : tensor<?x3xi1, #tutti.sizes<batch>>, tensor<3xi1>
  // CHECK: tutti.or
  %11 = tutti.or %10, %9 : tensor<?x3xi1, #tutti.sizes<batch>>, tensor<?x3xi1, #tutti.sizes<batch>>
  return %11 : tensor<?x3xi1, #tutti.sizes<batch>>
}

// CHECK-LABEL: @select_cast
func.func @select_cast(%c: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xi32> {
  // CHECK: tutti.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<2xf32>, tensor<2x2xf32>
  %0 = tutti.select %c, %a, %b : tensor<i1>, tensor<2xf32>, tensor<2x2xf32>
  // CHECK: tutti.cast %{{.*}} : tensor<2x2xf32> -> tensor<2x2xi32>
  %1 = tutti.cast %0 : tensor<2x2xf32> -> tensor<2x2xi32>
  return %1 : tensor<2x2xi32>
}

// CHECK-LABEL: @contract
func.func @contract(%x: tensor<?x8xf32, #tutti.sizes<batch>>, %w: tensor<5x8x3xf32>) -> tensor<5x?x3xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.contract %{{.*}}, %{{.*}} "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<5x8x3xf32>
  %y = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<5x8x3xf32>
  return %y : tensor<5x?x3xf32, #tutti.sizes<batch>>
}

// CHECK-LABEL: @reduce
func.func @reduce(%x: tensor<4x?x8xf32, #tutti.sizes<batch>>) -> tensor<1x?x1xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.reduce mean %{{.*}} [0, 2] : tensor<4x?x8xf32, #tutti.sizes<batch>>
  %y = tutti.reduce mean %x [0, 2] : tensor<4x?x8xf32, #tutti.sizes<batch>>
  return %y : tensor<1x?x1xf32, #tutti.sizes<batch>>
}

// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x8xf32>) -> (tensor<1x8xi64>, tensor<4x8xf32>, tensor<4x3xi64>) {
  // CHECK: tutti.arg max %{{.*}} axis 0 : tensor<4x8xf32>
  // CHECK-SAME: {{$}}
  %0 = tutti.arg max %x axis 0 : tensor<4x8xf32>
  // CHECK: tutti.arg min %{{.*}} axis 0 last : tensor<4x8xf32>
  %1 = tutti.arg min %x axis 0 last : tensor<4x8xf32>
  // CHECK: tutti.scan sum %{{.*}} exclusive : tensor<4x8xf32>
  %2 = tutti.scan sum %x exclusive : tensor<4x8xf32>
  // CHECK: tutti.scan prod %{{.*}} reverse : tensor<4x8xf32>
  %3 = tutti.scan prod %2 reverse : tensor<4x8xf32>
  // CHECK: tutti.top 3 of %{{.*}} smallest : tensor<4x8xf32>
  %4 = tutti.top 3 of %3 smallest : tensor<4x8xf32>
  return %0, %3, %4 : tensor<1x8xi64>, tensor<4x8xf32>, tensor<4x3xi64>
}

// CHECK-LABEL: @layout
func.func @layout(%x: tensor<?x4x6xf32, #tutti.sizes<batch>>) -> tensor<?x6x2xf32, #tutti.sizes<4*batch>> {
  // CHECK: tutti.reshape %{{.*}} : tensor<?x4x6xf32, #tutti.sizes<batch>> -> tensor<?x6xf32, #tutti.sizes<4*batch>>
  %0 = tutti.reshape %x : tensor<?x4x6xf32, #tutti.sizes<batch>> -> tensor<?x6xf32, #tutti.sizes<4*batch>>
  // CHECK: tutti.broadcast %{{.*}} : tensor<?x6xf32, #tutti.sizes<4*batch>> -> tensor<2x?x6xf32, #tutti.sizes<4*batch>>
  %1 = tutti.broadcast %0 : tensor<?x6xf32, #tutti.sizes<4*batch>> -> tensor<2x?x6xf32, #tutti.sizes<4*batch>>
  // CHECK: tutti.transpose %{{.*}} [1, 2, 0] : tensor<2x?x6xf32, #tutti.sizes<4*batch>>
  %2 = tutti.transpose %1 [1, 2, 0] : tensor<2x?x6xf32, #tutti.sizes<4*batch>>
  // CHECK: tutti.slice %{{.*}} from [0, 5, 0] size [-1, 3, -1] step [1, -2, 1] : tensor<?x6x2xf32, #tutti.sizes<4*batch>>
  %3 = tutti.slice %2 from [0, 5, 0] size [-1, 3, -1] step [1, -2, 1] : tensor<?x6x2xf32, #tutti.sizes<4*batch>>
  // CHECK: tutti.concat %{{.*}}, %{{.*}} axis 1 : tensor<?x3x2xf32, #tutti.sizes<4*batch>>, tensor<?x3x2xf32, #tutti.sizes<4*batch>>
  %4 = tutti.concat %3, %3 axis 1 : tensor<?x3x2xf32, #tutti.sizes<4*batch>>, tensor<?x3x2xf32, #tutti.sizes<4*batch>>
  return %4 : tensor<?x6x2xf32, #tutti.sizes<4*batch>>
}

// CHECK-LABEL: @scatter
func.func @scatter(%x: tensor<?x5xf32, #tutti.sizes<batch>>, %i: tensor<?x2xi64, #tutti.sizes<batch>>, %u: tensor<?x2xf32, #tutti.sizes<batch>>) -> tensor<?x5xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.scatter set %{{.*}} at %{{.*}} with %{{.*}} : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<?x2xi64, #tutti.sizes<batch>>, tensor<?x2xf32, #tutti.sizes<batch>>
  %0 = tutti.scatter set %x at %i with %u : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<?x2xi64, #tutti.sizes<batch>>, tensor<?x2xf32, #tutti.sizes<batch>>
  // CHECK: tutti.scatter add
  %1 = tutti.scatter add %0 at %i with %u : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<?x2xi64, #tutti.sizes<batch>>, tensor<?x2xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x5xf32, #tutti.sizes<batch>>
}

// CHECK-LABEL: @scatter_blocks
func.func @scatter_blocks(%x: tensor<12xf32>, %i: tensor<2xi64>, %own: tensor<6xi64>, %u: tensor<6xf32>) -> tensor<12xf32> {
  // CHECK: tutti.scatter max %{{.*}} at %{{.*}} with %{{.*}} width 3 : tensor<12xf32>, tensor<2xi64>, tensor<6xf32>
  %0 = tutti.scatter max %x at %i with %u width 3 : tensor<12xf32>, tensor<2xi64>, tensor<6xf32>
  %1 = tutti.scatter max %0 at %own with %u width 3 : tensor<12xf32>, tensor<6xi64>, tensor<6xf32>
  return %1 : tensor<12xf32>
}

// CHECK-LABEL: @windows
func.func @windows(%x: tensor<?x64x2xf32, #tutti.sizes<batch>>) -> tensor<?x16x18xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.windows %{{.*}} of [3, 3] in [8, 8] count [4, 4] step [2, 2] gap [1, 1] before [1, 1] : tensor<?x64x2xf32, #tutti.sizes<batch>>
  %0 = tutti.windows %x of [3, 3] in [8, 8] count [4, 4] step [2, 2] gap [1, 1] before [1, 1] : tensor<?x64x2xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x16x18xf32, #tutti.sizes<batch>>
}

// CHECK-LABEL: @margin
func.func @margin(%x: tensor<8x2xf32>) -> tensor<12x2xf32> {
  // CHECK: tutti.windows %{{.*}} of [1] in [8] count [12] step [1] gap [1] before [2] outside wrap : tensor<8x2xf32>
  %0 = tutti.windows %x of [1] in [8] count [12] step [1] gap [1] before [2] outside wrap : tensor<8x2xf32>
  return %0 : tensor<12x2xf32>
}

// CHECK-LABEL: @gather
func.func @gather(%x: tensor<3x5x7xf32>, %i: tensor<2x2xi64>, %own: tensor<3x4xi64>) -> tensor<3x4x7xf32> {
  // CHECK: tutti.gather %{{.*}} at %{{.*}} axis 1 : tensor<3x5x7xf32>, tensor<2x2xi64>
  %0 = tutti.gather %x at %i axis 1 : tensor<3x5x7xf32>, tensor<2x2xi64>
  // CHECK: tutti.gather %{{.*}} at %{{.*}} axis 1 batch 1 : tensor<3x5x7xf32>, tensor<3x4xi64>
  %1 = tutti.gather %x at %own axis 1 batch 1 : tensor<3x5x7xf32>, tensor<3x4xi64>
  return %1 : tensor<3x4x7xf32>
}

// CHECK-LABEL: @heads
func.func @heads(%x: tensor<4xf32>, %i: tensor<?x4xi32, #tutti.sizes<active>>) -> (tensor<f32>, tensor<4xf32>, tensor<4xi32>, tensor<i64>) {
  // CHECK: tutti.replicate %{{.*}} : tensor<4xf32> -> tensor<?x4xf32, #tutti.sizes<active>>
  %0 = tutti.replicate %x : tensor<4xf32> -> tensor<?x4xf32, #tutti.sizes<active>>
  // CHECK: tutti.head quantile %{{.*}} at 2.500000e-01 : tensor<4xf32>
  %1 = tutti.head quantile %x at 0.25 : tensor<4xf32>
  // CHECK: tutti.head mean %{{.*}} : tensor<?x4xi32, #tutti.sizes<active>>
  %2 = tutti.head mean %i : tensor<?x4xi32, #tutti.sizes<active>>
  // CHECK: tutti.head max %{{.*}} : tensor<?x4xi32, #tutti.sizes<active>>
  %3 = tutti.head max %i : tensor<?x4xi32, #tutti.sizes<active>>
  // CHECK: tutti.head vote %{{.*}} : tensor<?x4xf32, #tutti.sizes<active>>
  %4 = tutti.head vote %0 : tensor<?x4xf32, #tutti.sizes<active>>
  return %1, %2, %3, %4 : tensor<f32>, tensor<4xf32>, tensor<4xi32>, tensor<i64>
}

// CHECK-LABEL: @map
func.func @map(%x: tensor<?x3xf32, #tutti.sizes<batch>>, %y: tensor<3xf32>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.map %{{.*}}, %{{.*}} [#{{.*}}, #{{.*}}] : (tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>) -> tensor<?x3xf32, #tutti.sizes<batch>>
  %0 = tutti.map %x, %y [affine_map<(b, n) -> (b, n)>, affine_map<(b, n) -> (n)>] : (tensor<?x3xf32, #tutti.sizes<batch>>, tensor<3xf32>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    // CHECK: tutti.yield %{{.*}} : f32
    tutti.yield %s : f32
  }
  return %0 : tensor<?x3xf32, #tutti.sizes<batch>>
}

func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tutti.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: @vmap
func.func @vmap(%x: tensor<4xf32>, %w: tensor<4x10xf32>) -> tensor<10x4xf32> {
  // CHECK: tutti.vmap @f(%{{.*}}, %{{.*}}) in [-1, 1] out [0] size 10 : (tensor<4xf32>, tensor<4x10xf32>) -> tensor<10x4xf32>
  %0 = tutti.vmap @f(%x, %w) in [-1, 1] out [0] size 10 : (tensor<4xf32>, tensor<4x10xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}

// CHECK-LABEL: @numerics
func.func @numerics(%x: tensor<4x48xf32>, %w: tensor<48x9xf32>) -> (tensor<4x9xf32>, tensor<4x9xf32>, tensor<4x1xf32>, tensor<1x48xi64>) {
  // CHECK: tutti.contract %{{.*}}, %{{.*}} "bk,kn->bn" numerics<rule = panels, chunk = 16, product = tf32x3> :
  %0 = tutti.contract %x, %w "bk,kn->bn" numerics<product = tf32x3, chunk = 16, rule = panels> : tensor<4x48xf32>, tensor<48x9xf32>
  // CHECK: tutti.contract %{{.*}}, %{{.*}} "bk,kn->bn" numerics<rule = chain, chunk = 48> :
  %1 = tutti.contract %x, %w "bk,kn->bn" numerics<rule = chain, chunk = 48, product = fma> : tensor<4x48xf32>, tensor<48x9xf32>
  // CHECK: tutti.reduce sum %{{.*}} [1] numerics<rule = lanes> :
  %2 = tutti.reduce sum %x [1] numerics<rule = lanes> : tensor<4x48xf32>
  // CHECK: tutti.arg max %{{.*}} axis 0 last numerics<rule = chain> :
  %3 = tutti.arg max %x axis 0 last numerics<rule = chain> : tensor<4x48xf32>
  return %0, %1, %2, %3 : tensor<4x9xf32>, tensor<4x9xf32>, tensor<4x1xf32>, tensor<1x48xi64>
}
