// RUN: tutti-opt %s --tutti-numerics --split-input-file | FileCheck %s

// Rows times a weight follow the panels rule, lifted or not; the chunk comes from the number of products alone.
module attributes {tutti.members = 3 : i64} {
  tutti.param @trunk : tensor<8x4xf32>
  tutti.param per_member @w : tensor<4x2xf32>
  tutti.param per_member @f : tensor<8x2xf32>
  // CHECK-LABEL: func.func @weights
  func.func @weights(%x: tensor<?x8xf32, #tutti.sizes<batch>>, %y: tensor<?x?x4xf32, #tutti.sizes<active, batch>>)
      -> (tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x?x2xf32, #tutti.sizes<active, batch>>, tensor<?x?x2xf32, #tutti.sizes<active, batch>>) {
    // CHECK: tutti.contract {{.*}} "bk,kn->bn" numerics<rule = panels, chunk = 8>
    %trunk = tutti.get @trunk : tensor<8x4xf32>
    %0 = tutti.contract %x, %trunk "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x4xf32>
    // CHECK: tutti.contract {{.*}} "mbk,mkn->mbn" numerics<rule = panels, chunk = 4>
    %w = tutti.get @w : tensor<?x4x2xf32, #tutti.sizes<active>>
    %1 = tutti.contract %y, %w "mbk,mkn->mbn" : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x4x2xf32, #tutti.sizes<active>>
    // Shared rows, weights of members.
    // CHECK: tutti.contract {{.*}} "bk,mkn->mbn" numerics<rule = panels, chunk = 8>
    %f = tutti.get @f : tensor<?x8x2xf32, #tutti.sizes<active>>
    %2 = tutti.contract %x, %f "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x2xf32, #tutti.sizes<active>>
    return %0, %1, %2 : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x?x2xf32, #tutti.sizes<active, batch>>, tensor<?x?x2xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Anything else is a chain: a right operand that was computed, a weight that is not summed over its first axis, a result whose
// last axis is not the weight's.
module {
  tutti.param @w : tensor<4x4xf32>
  // CHECK-LABEL: func.func @others
  func.func @others(%x: tensor<?x4xf32, #tutti.sizes<batch>>, %y: tensor<4x4xf32>)
      -> (tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4x?xf32, #tutti.sizes<batch>>) {
    // CHECK: tutti.contract {{.*}} "bk,kn->bn" numerics<rule = chain, chunk = 4>
    %0 = tutti.contract %x, %y "bk,kn->bn" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4x4xf32>
    %w = tutti.get @w : tensor<4x4xf32>
    // CHECK: tutti.contract {{.*}} "bk,nk->bn" numerics<rule = chain,
    %1 = tutti.contract %x, %w "bk,nk->bn" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4x4xf32>
    // CHECK: tutti.contract {{.*}} "bk,kn->nb" numerics<rule = chain,
    %2 = tutti.contract %x, %w "bk,kn->nb" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4x4xf32>
    return %0, %1, %2 : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4x?xf32, #tutti.sizes<batch>>
  }
}

// -----

// Up to 256 products are one chunk; more are cut into equal chunks, each a multiple of 8.
module {
  tutti.param @a : tensor<256x1xf32>
  tutti.param @b : tensor<257x1xf32>
  tutti.param @c : tensor<784x1xf32>
  // CHECK-LABEL: func.func @chunks
  func.func @chunks(%a: tensor<1x256xf32>, %b: tensor<1x257xf32>, %c: tensor<1x784xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
    // CHECK: chunk = 256
    // CHECK: chunk = 136
    // CHECK: chunk = 200
    %0 = tutti.get @a : tensor<256x1xf32>
    %1 = tutti.contract %a, %0 "bk,kn->bn" : tensor<1x256xf32>, tensor<256x1xf32>
    %2 = tutti.get @b : tensor<257x1xf32>
    %3 = tutti.contract %b, %2 "bk,kn->bn" : tensor<1x257xf32>, tensor<257x1xf32>
    %4 = tutti.get @c : tensor<784x1xf32>
    %5 = tutti.contract %c, %4 "bk,kn->bn" : tensor<1x784xf32>, tensor<784x1xf32>
    return %1, %3, %5 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
  }
}

// -----

// A reduction along the row has 16 lanes and a tree, one along other axes is a chain.
// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<?x?x4xf32, #tutti.sizes<active, batch>>) -> (tensor<?x?x1xf32, #tutti.sizes<active, batch>>, tensor<?x1x4xf32, #tutti.sizes<active>>) {
  // CHECK: tutti.reduce mean %{{.*}} [2] numerics<rule = lanes>
  // CHECK: tutti.reduce sum %{{.*}} [1] numerics<rule = chain>
  %0 = tutti.reduce mean %x [2] : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
  %1 = tutti.reduce sum %x [1] : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
  return %0, %1 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>, tensor<?x1x4xf32, #tutti.sizes<active>>
}

// -----

// For CUDA devices float32 products are made of three on tensor cores where that is worth it: long sums, and more than a lanes block.
// Whatever is no product with a weight stays as it is everywhere.
module attributes {tutti.target = #tutti<target cuda>, tutti.precision = #tutti<precision f32>} {
  tutti.param @w : tensor<48x9xf32>
  tutti.param @short : tensor<47x9xf32>
  tutti.param @narrow : tensor<48x8xf32>
  // CHECK-LABEL: func.func @split
  func.func @split(%x: tensor<?x48xf32, #tutti.sizes<batch>>, %y: tensor<?x47xf32, #tutti.sizes<batch>>, %z: tensor<48x9xf32>)
      -> (tensor<?x9xf32, #tutti.sizes<batch>>, tensor<?x9xf32, #tutti.sizes<batch>>, tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x9xf32, #tutti.sizes<batch>>) {
    // CHECK: tutti.contract {{.*}} numerics<rule = panels, chunk = 16, product = tf32x3>
    %w = tutti.get @w : tensor<48x9xf32>
    %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x48xf32, #tutti.sizes<batch>>, tensor<48x9xf32>
    // CHECK: tutti.contract {{.*}} numerics<rule = panels, chunk = 47>
    %s = tutti.get @short : tensor<47x9xf32>
    %1 = tutti.contract %y, %s "bk,kn->bn" : tensor<?x47xf32, #tutti.sizes<batch>>, tensor<47x9xf32>
    // CHECK: tutti.contract {{.*}} numerics<rule = panels, chunk = 48>
    %n = tutti.get @narrow : tensor<48x8xf32>
    %2 = tutti.contract %x, %n "bk,kn->bn" : tensor<?x48xf32, #tutti.sizes<batch>>, tensor<48x8xf32>
    // CHECK: tutti.contract {{.*}} numerics<rule = chain, chunk = 48>
    %3 = tutti.contract %x, %z "bk,kn->bn" : tensor<?x48xf32, #tutti.sizes<batch>>, tensor<48x9xf32>
    return %0, %1, %2, %3 : tensor<?x9xf32, #tutti.sizes<batch>>, tensor<?x9xf32, #tutti.sizes<batch>>, tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x9xf32, #tutti.sizes<batch>>
  }
}

// -----

// Weights of float64 lie in panels on a CPU, and are multiplied as any other operand is on a CUDA device.
module {
  tutti.param @w : tensor<300x9xf64>
  // CHECK-LABEL: func.func @doubles
  func.func @doubles(%x: tensor<?x300xf64, #tutti.sizes<batch>>) -> tensor<?x9xf64, #tutti.sizes<batch>> {
    // CHECK: tutti.contract {{.*}} numerics<rule = panels, chunk = 152>
    %w = tutti.get @w : tensor<300x9xf64>
    %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x300xf64, #tutti.sizes<batch>>, tensor<300x9xf64>
    return %0 : tensor<?x9xf64, #tutti.sizes<batch>>
  }
}

// -----

module attributes {tutti.target = #tutti<target cuda>, tutti.precision = #tutti<precision f32>} {
  tutti.param @w : tensor<300x9xf64>
  // CHECK-LABEL: func.func @doublesOnCuda
  func.func @doublesOnCuda(%x: tensor<?x300xf64, #tutti.sizes<batch>>) -> tensor<?x9xf64, #tutti.sizes<batch>> {
    // CHECK: tutti.contract {{.*}} numerics<rule = chain, chunk = 152>
    %w = tutti.get @w : tensor<300x9xf64>
    %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x300xf64, #tutti.sizes<batch>>, tensor<300x9xf64>
    return %0 : tensor<?x9xf64, #tutti.sizes<batch>>
  }
}

// -----

// A lower precision is for every product with a weight, in one chain.
module attributes {tutti.target = #tutti<target cuda>, tutti.precision = #tutti<precision bf16>} {
  tutti.param @w : tensor<300x1xf32>
  // CHECK-LABEL: func.func @rounded
  func.func @rounded(%x: tensor<?x300xf32, #tutti.sizes<batch>>) -> tensor<?x1xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.contract {{.*}} numerics<rule = panels, chunk = 300, product = bf16>
    %w = tutti.get @w : tensor<300x1xf32>
    %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x300xf32, #tutti.sizes<batch>>, tensor<300x1xf32>
    return %0 : tensor<?x1xf32, #tutti.sizes<batch>>
  }
}

// -----

// f32-ffma asks for the bits of the CPU, and a CPU has no other.
module attributes {tutti.target = #tutti<target cuda>, tutti.precision = #tutti<precision "f32-ffma">} {
  tutti.param @w : tensor<300x32xf32>
  // CHECK-LABEL: func.func @plain
  func.func @plain(%x: tensor<?x300xf32, #tutti.sizes<batch>>) -> tensor<?x32xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.contract {{.*}} numerics<rule = panels, chunk = 152>
    %w = tutti.get @w : tensor<300x32xf32>
    %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x300xf32, #tutti.sizes<batch>>, tensor<300x32xf32>
    return %0 : tensor<?x32xf32, #tutti.sizes<batch>>
  }
}

// -----

// A result of no axes, of all products at once.
module {
  tutti.param @w : tensor<4x8xf32>
  // CHECK-LABEL: func.func @scalar
  func.func @scalar(%x: tensor<8x4xf32>) -> tensor<f32> {
    // CHECK: tutti.contract {{.*}} "ji,ij->" numerics<rule = chain,
    %w = tutti.get @w : tensor<4x8xf32>
    %0 = tutti.contract %x, %w "ji,ij->" : tensor<8x4xf32>, tensor<4x8xf32>
    return %0 : tensor<f32>
  }
}
