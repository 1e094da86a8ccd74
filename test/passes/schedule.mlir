// RUN: tutti-opt %s --tutti-to-kernels --split-input-file | FileCheck %s

// A chain takes 64 rows a task; scratch holds the activations between two layers, 1 KiB a row and a line of padding.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<8x256xf32>
  tutti.param per_member @v : tensor<256x8xf32>
  // CHECK-LABEL: func.func @chain
  // CHECK: plan.kernel {{.*}} chain {{.*}}schedule<tile = 64, quantum = 8, overhead = 4, scratch = 69696>
  func.func @chain(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x?x8xf32, #tutti.sizes<active, batch>> {
    %w = tutti.get @w : tensor<?x8x256xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x256xf32, #tutti.sizes<active>>
    %v = tutti.get @v : tensor<?x256x8xf32, #tutti.sizes<active>>
    %1 = tutti.contract %0, %v "mbk,mkn->mbn" : tensor<?x?x256xf32, #tutti.sizes<active, batch>>, tensor<?x256x8xf32, #tutti.sizes<active>>
    return %1 : tensor<?x?x8xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// On a CUDA device a call takes one of several geometries: nothing is decided here.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>} {
  tutti.param per_member @w : tensor<64x64xf32>
  // CHECK-LABEL: func.func @device
  // CHECK: plan.kernel
  // CHECK-NOT: schedule<
  func.func @device(%x: tensor<?x64xf32, #tutti.sizes<batch>>) -> tensor<?x?x64xf32, #tutti.sizes<active, batch>> {
    %w = tutti.get @w : tensor<?x64x64xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64x64xf32, #tutti.sizes<active>>
    return %0 : tensor<?x?x64xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Very wide layers take fewer rows; never less than a quantum.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<8x32768xf32>
  tutti.param per_member @v : tensor<32768x8xf32>
  // CHECK-LABEL: func.func @wide
  // CHECK: plan.kernel {{.*}} chain {{.*}}schedule<tile = 24, 
  func.func @wide(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x?x8xf32, #tutti.sizes<active, batch>> {
    %w = tutti.get @w : tensor<?x8x32768xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x32768xf32, #tutti.sizes<active>>
    %v = tutti.get @v : tensor<?x32768x8xf32, #tutti.sizes<active>>
    %1 = tutti.contract %0, %v "mbk,mkn->mbn" : tensor<?x?x32768xf32, #tutti.sizes<active, batch>>, tensor<?x32768x8xf32, #tutti.sizes<active>>
    return %1 : tensor<?x?x8xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Without contractions a task has as many rows as pay for its call.
// CHECK-LABEL: func.func @element
// CHECK: plan.kernel {{.*}} element {{.*}}schedule<tile = 256, quantum = 8, overhead = 1, 
func.func @element(%x: tensor<?x64xf32, #tutti.sizes<batch>>) -> tensor<?x64xf32, #tutti.sizes<batch>> {
  %0 = tutti.exp %x : tensor<?x64xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x64xf32, #tutti.sizes<batch>>
}

// -----

// An order statistic sorts all members of 16 elements: 128 bytes a member.
module attributes {tutti.members = 1000 : i64} {
  // CHECK-LABEL: func.func @quantile
  // CHECK: plan.kernel {{.*}}scratch = 128000>
  func.func @quantile(%x: tensor<?x?x4xf32, #tutti.sizes<active, batch>>) -> tensor<?x4xf32, #tutti.sizes<batch>> {
    %0 = tutti.exp %x : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %1 = tutti.head quantile %0 at 0.5 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    return %1 : tensor<?x4xf32, #tutti.sizes<batch>>
  }
}

// -----

// What rows read transposed comes in blocks of 64 rows, sixteen at a time at most: as many are worth a task, however
// wide they are.
// CHECK-LABEL: func.func @transposed
// CHECK: plan.kernel {{.*}} element {{.*}}schedule<tile = 64, quantum = 16, {{.*}}scratch = 16512>
func.func @transposed(%x: tensor<?x1024x256xf32, #tutti.sizes<batch>>) -> tensor<?x256x1024xf32, #tutti.sizes<batch>> {
  %0 = tutti.transpose %x [0, 2, 1] : tensor<?x1024x256xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x256x1024xf32, #tutti.sizes<batch>>
}

// -----

// Where neighbours lie 20 rows apart in the result, a task has the rows between them; three neighbours are all.
// CHECK-LABEL: func.func @apart
// CHECK: plan.kernel {{.*}} element {{.*}}schedule<tile = 1080, quantum = 60,
func.func @apart(%x: tensor<?x16x20x3xf32, #tutti.sizes<batch>>) -> tensor<?x3x20x16xf32, #tutti.sizes<batch>> {
  %0 = tutti.transpose %x [0, 3, 2, 1] : tensor<?x16x20x3xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x3x20x16xf32, #tutti.sizes<batch>>
}

// -----

// Nothing of a row is nothing to copy.
// CHECK-LABEL: func.func @empty
// CHECK: plan.kernel {{.*}} element {{.*}}schedule<tile = 1024, quantum = 8, 
func.func @empty(%x: tensor<?x0x20xf32, #tutti.sizes<batch>>) -> tensor<?x20x0xf32, #tutti.sizes<batch>> {
  %0 = tutti.transpose %x [0, 2, 1] : tensor<?x0x20xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x20x0xf32, #tutti.sizes<batch>>
}

// -----

// Of the heads only quantiles and votes by scores need memory that a task has of its own.
module attributes {tutti.members = 3 : i64} {
  // CHECK-DAG: plan.kernel @k0 {{.*}}scratch = 64>
  // CHECK-DAG: plan.kernel @k1 {{.*}}scratch = 8000000>
  func.func @heads(%x: tensor<?x4x1000000xf32, #tutti.sizes<active>>, %z: tensor<?x8x1000000xf32, #tutti.sizes<active>>)
      -> (tensor<4x1000000xf32>, tensor<8xi64>) {
    %a = tutti.neg %x : tensor<?x4x1000000xf32, #tutti.sizes<active>>
    %b = tutti.neg %z : tensor<?x8x1000000xf32, #tutti.sizes<active>>
    %0 = tutti.head mean %a : tensor<?x4x1000000xf32, #tutti.sizes<active>>
    %1 = tutti.head vote %b : tensor<?x8x1000000xf32, #tutti.sizes<active>>
    return %0, %1 : tensor<4x1000000xf32>, tensor<8xi64>
  }
}
