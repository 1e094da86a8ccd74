// RUN: tutti-opt %s --cse --tutti-decompose --tutti-compose --tutti-numerics --tutti-fuse --split-input-file | FileCheck %s
// Which ops become a kernel.

// What members share and what they have of their own have different rows: two kernels, the shared one once for all.
module attributes {tutti.members = 3 : i64} {
  tutti.param @trunk : tensor<8x4xf32>
  tutti.param per_member @w : tensor<4x2xf32>
  // CHECK-LABEL: func.func @trunk_and_heads
  func.func @trunk_and_heads(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x?x2xf32, #tutti.sizes<active, batch>> {
    // CHECK: %[[H:.*]] = plan.dispatch @[[SHARED:.*]](%{{.*}}, %{{.*}}) : {{.*}} -> tensor<?x4xf32, #tutti.sizes<batch>>
    // CHECK: plan.dispatch @[[LIFTED:.*]](%[[H]], %{{.*}}) : {{.*}} -> tensor<?x?x2xf32, #tutti.sizes<active, batch>>
    %0 = tutti.get @trunk : tensor<8x4xf32>
    %1 = tutti.contract %x, %0 "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x4xf32>
    %2 = tutti.relu %1 : tensor<?x4xf32, #tutti.sizes<batch>>
    %3 = tutti.get @w : tensor<?x4x2xf32, #tutti.sizes<active>>
    %4 = tutti.contract %2, %3 "bk,mkn->mbn" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x4x2xf32, #tutti.sizes<active>>
    return %4 : tensor<?x?x2xf32, #tutti.sizes<active, batch>>
  }
  // CHECK-DAG: plan.kernel @[[SHARED]] chain rows<batch> weights [1]
  // CHECK-DAG: plan.kernel @[[LIFTED]] chain lifted rows<batch> weights [1]
}

// -----

// A dense chain with its bias, norm, residual, activation and heads is one kernel. What is only read inside stays inside.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<4x4xf32>
  tutti.param per_member @b : tensor<4xf32>
  tutti.param per_member @v : tensor<4x1xf32>
  // CHECK-LABEL: func.func @chain
  func.func @chain(%x: tensor<?x4xf32, #tutti.sizes<batch>>) -> (tensor<?x?x1xf32, #tutti.sizes<active, batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>) {
    // CHECK: %[[B:.*]] = tutti.reshape
    // CHECK: %[[R:.*]]:3 = plan.dispatch @[[K:.*]](%{{.*}}, %{{.*}}, %[[B]], %{{.*}}) : {{.*}} -> (tensor<?x?x1xf32, #tutti.sizes<active, batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>)
    // CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2
    // CHECK: plan.kernel @[[K]] chain lifted rows<batch> weights [1, 2, 3]
    // CHECK: tutti.contract
    // CHECK: tutti.reduce mean
    // CHECK: tutti.reduce mean
    // CHECK: %[[Y:.*]] = tutti.contract
    // CHECK: %[[MEAN:.*]] = tutti.head mean %[[Y]]
    // CHECK: %[[STD:.*]] = tutti.head std %[[Y]]
    // CHECK: tutti.yield %[[Y]], %[[MEAN]], %[[STD]]
    // CHECK-NOT: plan.kernel
    %w = tutti.get @w : tensor<?x4x4xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x4x4xf32, #tutti.sizes<active>>
    %b = tutti.get @b : tensor<?x4xf32, #tutti.sizes<active>>
    %bb = tutti.reshape %b : tensor<?x4xf32, #tutti.sizes<active>> -> tensor<?x1x4xf32, #tutti.sizes<active>>
    %1 = tutti.add %0, %bb : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x1x4xf32, #tutti.sizes<active>>
    %2 = tutti.reduce mean %1 [2] : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %3 = tutti.sub %1, %2 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    %4 = tutti.mul %3, %3 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %5 = tutti.reduce mean %4 [2] : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %6 = tutti.sqrt %5 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    %7 = tutti.div %3, %6 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    %8 = tutti.add %7, %1 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %9 = tutti.tanh %8 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %v = tutti.get @v : tensor<?x4x1xf32, #tutti.sizes<active>>
    %10 = tutti.contract %9, %v "mbk,mkn->mbn" : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x4x1xf32, #tutti.sizes<active>>
    %11 = tutti.head mean %10 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    %12 = tutti.head std %10 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    return %10, %11, %12 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  }
}

// -----

// A softmax along the row lies in the chain of its logits.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<4x4xf32>
  // CHECK-LABEL: func.func @softmax
  func.func @softmax(%x: tensor<?x4xf32, #tutti.sizes<batch>>) -> tensor<?x?x4xf32, #tutti.sizes<active, batch>> {
    // CHECK-COUNT-1: plan.dispatch
    // CHECK: plan.kernel @{{.*}} chain lifted
    // CHECK: tutti.contract
    // CHECK: tutti.reduce max
    // CHECK: math.exp
    // CHECK: tutti.reduce sum
    // CHECK: arith.divf
    // CHECK-NOT: plan.kernel
    %w = tutti.get @w : tensor<?x4x4xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x4x4xf32, #tutti.sizes<active>>
    %1 = tutti.reduce max %0 [2] : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %2 = tutti.sub %0, %1 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    %3 = tutti.exp %2 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %4 = tutti.reduce sum %3 [2] : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %5 = tutti.div %3, %4 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    return %5 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Without a weight it is a row kernel; without a reduction, an element kernel.
// CHECK-LABEL: func.func @families
func.func @families(%x: tensor<?x4xf32, #tutti.sizes<batch>>, %y: tensor<5x6xf32>) -> (tensor<?x4xf32, #tutti.sizes<batch>>, tensor<5x6xf32>) {
  // CHECK-DAG: plan.dispatch @[[ROW:.*]](%{{.*}}) : (tensor<?x4xf32, #tutti.sizes<batch>>) -> tensor<?x4xf32, #tutti.sizes<batch>>
  // CHECK-DAG: plan.dispatch @[[ELEMENT:.*]](%{{.*}}) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  // CHECK-DAG: plan.kernel @[[ROW]] row rows<batch> weights []
  // CHECK-DAG: plan.kernel @[[ELEMENT]] element rows<5> weights []
  %0 = tutti.reduce sum %x [1] : tensor<?x4xf32, #tutti.sizes<batch>>
  %1 = tutti.div %x, %0 : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %2 = tutti.exp %y : tensor<5x6xf32>
  return %1, %2 : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<5x6xf32>
}

// -----

// Equal kernels are one, however often it is launched.
module attributes {tutti.members = 3 : i64} {
  // CHECK-LABEL: func.func @merge
  func.func @merge(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // CHECK: %[[A:.*]] = plan.dispatch @[[K:.*]](%{{.*}})
    // CHECK: %[[B:.*]] = plan.dispatch @[[K]](%[[A]])
    // CHECK: %[[C:.*]] = plan.dispatch @[[K]](%[[B]])
    // CHECK: return %[[C]]
    // CHECK: plan.kernel @[[K]]
    // CHECK-NOT: plan.kernel
    %0 = tutti.transpose %x [1, 0] : tensor<4x4xf32>
    %1 = tutti.exp %0 : tensor<4x4xf32>
    %2 = tutti.transpose %1 [1, 0] : tensor<4x4xf32>
    %3 = tutti.exp %2 : tensor<4x4xf32>
    %4 = tutti.transpose %3 [1, 0] : tensor<4x4xf32>
    %5 = tutti.exp %4 : tensor<4x4xf32>
    return %5 : tensor<4x4xf32>
  }
}

// -----

// A view costs nothing and cuts nothing that it does not reshape: the kernel before it and the kernel after it meet in memory.
// CHECK-LABEL: func.func @view
func.func @view(%x: tensor<4x6xf32>, %s: tensor<4x6xf32>) -> tensor<24xf32> {
  // CHECK: %[[A:.*]] = plan.dispatch @[[ONE:.*]](%{{.*}}, %{{.*}}) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[V:.*]] = tutti.reshape %[[A]] : tensor<4x6xf32> -> tensor<24xf32>
  // CHECK: plan.dispatch @[[TWO:.*]](%[[V]]) : (tensor<24xf32>) -> tensor<24xf32>
  // CHECK-COUNT-2: plan.kernel
  // CHECK-NOT: plan.kernel
  %0 = tutti.reduce max %x [1] : tensor<4x6xf32>
  %1 = tutti.add %s, %0 : tensor<4x6xf32>, tensor<4x1xf32>
  %2 = tutti.reshape %1 : tensor<4x6xf32> -> tensor<24xf32>
  %3 = tutti.neg %2 : tensor<24xf32>
  return %3 : tensor<24xf32>
}

// -----

// A view of unit axes inside a chain does not cut it: one launch. A head reads the members' values from memory, so they are results too.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<4x1xf32>
  // CHECK-LABEL: func.func @unit_view
  func.func @unit_view(%x: tensor<?x4xf32, #tutti.sizes<batch>>) -> tensor<?xf32, #tutti.sizes<batch>> {
    // CHECK: %[[R:.*]]:2 = plan.dispatch @[[K:.*]](%{{.*}}, %{{.*}}) : {{.*}} -> (tensor<?x?x1xf32, #tutti.sizes<active, batch>>, tensor<?x1xf32, #tutti.sizes<batch>>)
    // CHECK-NEXT: %[[V:.*]] = tutti.reshape %[[R]]#1
    // CHECK-NEXT: return %[[V]]
    // CHECK: plan.kernel @[[K]] chain
    // CHECK-NOT: plan.kernel
    %w = tutti.get @w : tensor<?x4x1xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x4x1xf32, #tutti.sizes<active>>
    %1 = tutti.reshape %0 : tensor<?x?x1xf32, #tutti.sizes<active, batch>> -> tensor<?x?xf32, #tutti.sizes<active, batch>>
    %2 = tutti.tanh %1 : tensor<?x?xf32, #tutti.sizes<active, batch>>
    %3 = tutti.head mean %2 : tensor<?x?xf32, #tutti.sizes<active, batch>>
    return %3 : tensor<?xf32, #tutti.sizes<batch>>
  }
}

// -----

// What reads other rows than its own waits for all of them: a kernel of its own.
// CHECK-LABEL: func.func @other_rows
func.func @other_rows(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<1x4xf32>) {
  // CHECK: %[[E:.*]] = plan.dispatch @[[EXP:.*]](%{{.*}}) :
  // CHECK-DAG: plan.dispatch @[[SWAP:.*]](%[[E]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-DAG: plan.dispatch @[[DOWN:.*]](%[[E]]) : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %0 = tutti.exp %x : tensor<4x4xf32>
  %1 = tutti.transpose %0 [1, 0] : tensor<4x4xf32>
  %2 = tutti.reduce sum %0 [0] : tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<1x4xf32>
}

// -----

// An op does not join a kernel that has to run before what the op reads.
// CHECK-LABEL: func.func @order
func.func @order(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[E:.*]] = plan.dispatch @[[EXP:.*]](%{{.*}}) :
  // CHECK: %[[T:.*]] = plan.dispatch @{{.*}}(%[[E]]
  // CHECK: return %[[T]]
  %0 = tutti.exp %x : tensor<4x4xf32>
  %1 = tutti.transpose %0 [1, 0] : tensor<4x4xf32>
  %2 = tutti.add %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A margin of zeros is of the kernel that reads it, not of the first one that has the same rows: nothing stores it.
// CHECK-LABEL: func.func @margins
func.func @margins(%x: tensor<?x2x4xf32, #tutti.sizes<batch>>) -> tensor<?x2x7xf32, #tutti.sizes<batch>> {
  // CHECK: %[[FIRST:.*]] = plan.dispatch @{{.*}} -> tensor<?x2x5xf32, #tutti.sizes<batch>>
  // CHECK: plan.dispatch @[[SECOND:.*]](%[[FIRST]], {{.*}} -> tensor<?x2x7xf32, #tutti.sizes<batch>>
  // CHECK: plan.kernel @[[SECOND]]
  // CHECK: tutti.gather
  // CHECK: tutti.map {{.*}} (tensor<f32>) -> tensor<?x2x2xf32, #tutti.sizes<batch>>
  // CHECK: tutti.concat
  %zero = tutti.constant dense<0.0> : tensor<f32>
  %swapped = tutti.constant dense<[1, 0]> : tensor<2xi64>
  %0 = tutti.broadcast %zero : tensor<f32> -> tensor<?x2x1xf32, #tutti.sizes<batch>>
  %1 = tutti.broadcast %zero : tensor<f32> -> tensor<?x2x2xf32, #tutti.sizes<batch>>
  %2 = tutti.concat %0, %x axis 2 : tensor<?x2x1xf32, #tutti.sizes<batch>>, tensor<?x2x4xf32, #tutti.sizes<batch>>
  %3 = tutti.gather %2 at %swapped axis 1 : tensor<?x2x5xf32, #tutti.sizes<batch>>, tensor<2xi64>
  %4 = tutti.concat %3, %1 axis 2 : tensor<?x2x5xf32, #tutti.sizes<batch>>, tensor<?x2x2xf32, #tutti.sizes<batch>>
  return %4 : tensor<?x2x7xf32, #tutti.sizes<batch>>
}

// -----

// So is a part of each row that only one op reads: the whole is stored for others anyway.
// CHECK-LABEL: func.func @parts
func.func @parts(%x: tensor<?x2x4xf32, #tutti.sizes<batch>>) -> (tensor<?x2x4xf32, #tutti.sizes<batch>>, tensor<?x2x6xf32, #tutti.sizes<batch>>) {
  // CHECK: %[[LONG:.*]] = plan.dispatch @{{.*}} -> tensor<?x8xf32, #tutti.sizes<batch>>
  // CHECK: %[[FIRST:.*]] = tutti.reshape %[[LONG]]
  // CHECK: %[[SECOND:.*]] = plan.dispatch @{{.*}}(%[[FIRST]], {{.*}} -> tensor<?x2x6xf32, #tutti.sizes<batch>>
  // CHECK: return %[[FIRST]], %[[SECOND]]
  %swapped = tutti.constant dense<[1, 0]> : tensor<2xi64>
  %0 = tutti.exp %x : tensor<?x2x4xf32, #tutti.sizes<batch>>
  %1 = tutti.slice %0 from [0, 0, 2] size [-1, 2, 2] step [1, 1, 1] : tensor<?x2x4xf32, #tutti.sizes<batch>>
  %2 = tutti.gather %0 at %swapped axis 1 : tensor<?x2x4xf32, #tutti.sizes<batch>>, tensor<2xi64>
  %3 = tutti.concat %1, %2 axis 2 : tensor<?x2x2xf32, #tutti.sizes<batch>>, tensor<?x2x4xf32, #tutti.sizes<batch>>
  return %0, %3 : tensor<?x2x4xf32, #tutti.sizes<batch>>, tensor<?x2x6xf32, #tutti.sizes<batch>>
}

// -----

// A kernel of a CUDA device has sixteen phases of rows, and all that is made of the last one, of a part of it, too.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>} {
  // CHECK-LABEL: func.func @phases
  // CHECK: plan.dispatch
  // CHECK-NOT: plan.dispatch
  // CHECK: return
  func.func @phases(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> (tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x2xf32, #tutti.sizes<batch>>) {
    %s0 = tutti.reduce sum %x [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m0 = tutti.mul %x, %s0 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s1 = tutti.reduce sum %m0 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m1 = tutti.mul %m0, %s1 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s2 = tutti.reduce sum %m1 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m2 = tutti.mul %m1, %s2 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s3 = tutti.reduce sum %m2 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m3 = tutti.mul %m2, %s3 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s4 = tutti.reduce sum %m3 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m4 = tutti.mul %m3, %s4 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s5 = tutti.reduce sum %m4 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m5 = tutti.mul %m4, %s5 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s6 = tutti.reduce sum %m5 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m6 = tutti.mul %m5, %s6 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s7 = tutti.reduce sum %m6 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m7 = tutti.mul %m6, %s7 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s8 = tutti.reduce sum %m7 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m8 = tutti.mul %m7, %s8 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s9 = tutti.reduce sum %m8 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m9 = tutti.mul %m8, %s9 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s10 = tutti.reduce sum %m9 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m10 = tutti.mul %m9, %s10 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s11 = tutti.reduce sum %m10 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m11 = tutti.mul %m10, %s11 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s12 = tutti.reduce sum %m11 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m12 = tutti.mul %m11, %s12 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s13 = tutti.reduce sum %m12 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m13 = tutti.mul %m12, %s13 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s14 = tutti.reduce sum %m13 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m14 = tutti.mul %m13, %s14 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %s15 = tutti.reduce sum %m14 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %m15 = tutti.mul %m14, %s15 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %0 = tutti.slice %m15 from [0, 6] size [-1, 2] step [1, 1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %1 = tutti.exp %0 : tensor<?x2xf32, #tutti.sizes<batch>>
    return %m15, %1 : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x2xf32, #tutti.sizes<batch>>
  }
}

// -----

// Where a row has 256 bytes, 64 floats do not fit beside anything: the chain ends before the op that would read them.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>, tutti.scratch_per_row = 256 : i64} {
  tutti.param per_member @w : tensor<8x64xf32>
  tutti.param per_member @v : tensor<64x8xf32>
  tutti.param per_member @u : tensor<8x8xf32>
  // CHECK-LABEL: func.func @wide_layer
  func.func @wide_layer(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x?x8xf32, #tutti.sizes<active, batch>> {
    // CHECK: %[[H:.*]] = plan.dispatch @[[WIDE:.*]](%{{.*}}, %{{.*}}) : {{.*}} -> tensor<?x?x64xf32, #tutti.sizes<active, batch>>
    // CHECK: %[[Y:.*]] = plan.dispatch @[[REST:.*]](%[[H]], {{.*}} -> tensor<?x?x8xf32, #tutti.sizes<active, batch>>
    // CHECK: return %[[Y]]
    // CHECK: plan.kernel @[[WIDE]] chain
    // CHECK: tutti.contract
    // CHECK-NOT: tutti.contract
    // CHECK: plan.kernel @[[REST]] chain
    // CHECK: tutti.contract
    // CHECK: tutti.contract
    // CHECK-NOT: plan.kernel
    %w = tutti.get @w : tensor<?x8x64xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x64xf32, #tutti.sizes<active>>
    %1 = tutti.relu %0 : tensor<?x?x64xf32, #tutti.sizes<active, batch>>
    %v = tutti.get @v : tensor<?x64x8xf32, #tutti.sizes<active>>
    %2 = tutti.contract %1, %v "mbk,mkn->mbn" : tensor<?x?x64xf32, #tutti.sizes<active, batch>>, tensor<?x64x8xf32, #tutti.sizes<active>>
    %3 = tutti.relu %2 : tensor<?x?x8xf32, #tutti.sizes<active, batch>>
    %u = tutti.get @u : tensor<?x8x8xf32, #tutti.sizes<active>>
    %4 = tutti.contract %3, %u "mbk,mkn->mbn" : tensor<?x?x8xf32, #tutti.sizes<active, batch>>, tensor<?x8x8xf32, #tutti.sizes<active>>
    return %4 : tensor<?x?x8xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// A softmax of a row that does not fit stays one kernel: the exponentials are a result that nobody else reads.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>, tutti.scratch_per_row = 256 : i64} {
  // CHECK-LABEL: func.func @wide_row
  func.func @wide_row(%x: tensor<?x128xf32, #tutti.sizes<batch>>) -> tensor<?x128xf32, #tutti.sizes<batch>> {
    // CHECK: %[[R:.*]]:2 = plan.dispatch @[[K:.*]](%{{.*}}) : {{.*}} -> (tensor<?x128xf32, #tutti.sizes<batch>>, tensor<?x128xf32, #tutti.sizes<batch>>)
    // CHECK-NEXT: return %[[R]]#1
    // CHECK: plan.kernel @[[K]] row
    // CHECK: %[[E:.*]] = tutti.map
    // CHECK: %[[Y:.*]] = tutti.map
    // CHECK: tutti.yield
    // CHECK-NOT: plan.kernel
    %0 = tutti.reduce max %x [1] : tensor<?x128xf32, #tutti.sizes<batch>>
    %1 = tutti.sub %x, %0 : tensor<?x128xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    %2 = tutti.exp %1 : tensor<?x128xf32, #tutti.sizes<batch>>
    %3 = tutti.reduce sum %2 [1] : tensor<?x128xf32, #tutti.sizes<batch>>
    %4 = tutti.div %2, %3 : tensor<?x128xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
    return %4 : tensor<?x128xf32, #tutti.sizes<batch>>
  }
}

// -----

// What is chosen along a row, and what is put into one, stays in the row's kernel; what is chosen among rows waits for all of them.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<4x6xf32>
  // CHECK-LABEL: func.func @choices
  func.func @choices(%x: tensor<3x4xf32>, %i: tensor<?x3x2xi64, #tutti.sizes<active>>, %j: tensor<5xi64>) -> (tensor<?x3x6xf32, #tutti.sizes<active>>, tensor<?x5x6xf32, #tutti.sizes<active>>) {
    // CHECK: %[[Y:.*]] = plan.dispatch @[[ROWS:k[0-9]+]](
    // CHECK: plan.dispatch @[[CHOSEN:k[0-9]+]](%[[Y]], %{{.*}})
    %w = tutti.get @w : tensor<?x4x6xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<3x4xf32>, tensor<?x4x6xf32, #tutti.sizes<active>>
    %1 = tutti.gather %0 at %i axis 2 batch 2 : tensor<?x3x6xf32, #tutti.sizes<active>>, tensor<?x3x2xi64, #tutti.sizes<active>>
    %2 = tutti.scatter add %0 at %i with %1 : tensor<?x3x6xf32, #tutti.sizes<active>>, tensor<?x3x2xi64, #tutti.sizes<active>>, tensor<?x3x2xf32, #tutti.sizes<active>>
    %3 = tutti.gather %2 at %j axis 1 : tensor<?x3x6xf32, #tutti.sizes<active>>, tensor<5xi64>
    return %2, %3 : tensor<?x3x6xf32, #tutti.sizes<active>>, tensor<?x5x6xf32, #tutti.sizes<active>>
  }
  // CHECK-DAG: plan.kernel @[[ROWS]] chain lifted rows<3>
  // CHECK-DAG: plan.kernel @[[CHOSEN]] element lifted rows<5>
}

// -----

// Attention: on a CPU what the scores weigh reads their own row only, and is of one kernel with them and their softmax.
module {
  // CHECK-LABEL: func.func @attention
  func.func @attention(%q: tensor<?x9x8xf32, #tutti.sizes<batch>>, %k: tensor<?x9x8xf32, #tutti.sizes<batch>>, %v: tensor<?x9x4xf32, #tutti.sizes<batch>>) -> tensor<?x9x4xf32, #tutti.sizes<batch>> {
    // CHECK-COUNT-1: plan.dispatch
    // CHECK-NOT: plan.dispatch
    // CHECK: plan.kernel @{{.*}} chain rows<batch, 9>
    %0 = tutti.contract %q, %k "bsk,btk->bst" : tensor<?x9x8xf32, #tutti.sizes<batch>>, tensor<?x9x8xf32, #tutti.sizes<batch>>
    %1 = tutti.reduce max %0 [2] : tensor<?x9x9xf32, #tutti.sizes<batch>>
    %2 = tutti.sub %0, %1 : tensor<?x9x9xf32, #tutti.sizes<batch>>, tensor<?x9x1xf32, #tutti.sizes<batch>>
    %3 = tutti.exp %2 : tensor<?x9x9xf32, #tutti.sizes<batch>>
    %4 = tutti.reduce sum %3 [2] : tensor<?x9x9xf32, #tutti.sizes<batch>>
    %5 = tutti.div %3, %4 : tensor<?x9x9xf32, #tutti.sizes<batch>>, tensor<?x9x1xf32, #tutti.sizes<batch>>
    %6 = tutti.contract %5, %v "bst,btd->bsd" : tensor<?x9x9xf32, #tutti.sizes<batch>>, tensor<?x9x4xf32, #tutti.sizes<batch>>
    return %6 : tensor<?x9x4xf32, #tutti.sizes<batch>>
  }
}

// -----

// A row whose length depends on the call is not kept by a task: it is a result, which the kernel reads again.
module {
  // CHECK-LABEL: func.func @columns_of_the_call
  func.func @columns_of_the_call(%x: tensor<2x?xf32, #tutti.sizes<batch>>) -> tensor<1x?xf32, #tutti.sizes<batch>> {
    // CHECK: %[[BOTH:.*]]:2 = plan.dispatch @[[K:.*]](%{{.*}}) : (tensor<2x?xf32, #tutti.sizes<batch>>) -> (tensor<1x?xf32, #tutti.sizes<batch>>, tensor<1x?xf32, #tutti.sizes<batch>>)
    // CHECK: return %[[BOTH]]#1
    // CHECK: plan.kernel @[[K]] element rows<1>
    // CHECK: %[[SUM:.*]] = tutti.reduce sum
    // CHECK: tutti.yield %[[SUM]], %{{.*}}
    %0 = tutti.reduce sum %x [0] : tensor<2x?xf32, #tutti.sizes<batch>>
    %1 = tutti.relu %0 : tensor<1x?xf32, #tutti.sizes<batch>>
    %2 = tutti.mul %1, %0 : tensor<1x?xf32, #tutti.sizes<batch>>, tensor<1x?xf32, #tutti.sizes<batch>>
    return %2 : tensor<1x?xf32, #tutti.sizes<batch>>
  }
}

// -----

// The move that a product reads its rows through is in the product's kernel, whose rows it need not have: the image is
// shared.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<72x5xf32>
  // CHECK-LABEL: func.func @windows
  func.func @windows(%x: tensor<?x64x8xf32, #tutti.sizes<batch>>) -> tensor<?x?x36x5xf32, #tutti.sizes<active, batch>> {
    // CHECK: plan.dispatch @[[CONV:.*]](%{{.*}}, %{{.*}}) : (tensor<?x64x8xf32, #tutti.sizes<batch>>, {{.*}}) -> tensor<?x?x36x5xf32, #tutti.sizes<active, batch>>
    %0 = tutti.windows %x of [3, 3] in [8, 8] count [6, 6] step [1, 1] gap [1, 1] before [0, 0] : tensor<?x64x8xf32, #tutti.sizes<batch>>
    %1 = tutti.get @w : tensor<?x72x5xf32, #tutti.sizes<active>>
    %2 = tutti.contract %0, %1 "bsk,mkn->mbsn" : tensor<?x36x72xf32, #tutti.sizes<batch>>, tensor<?x72x5xf32, #tutti.sizes<active>>
    return %2 : tensor<?x?x36x5xf32, #tutti.sizes<active, batch>>
  }
  // CHECK: plan.kernel @[[CONV]] chain lifted rows<batch, 36> weights [1]
  // CHECK: %[[ROWS:.*]] = tutti.map %{{.*}} -> tensor<?x36x72xf32, #tutti.sizes<batch>>
  // CHECK: tutti.contract %[[ROWS]],
}

// -----

// A place in an image of 2 GiB is more than a table tells: its windows are stored, once for all members.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<2048x5xf32>
  // CHECK-LABEL: func.func @large_image
  func.func @large_image(%x: tensor<?x268435456x2xf32, #tutti.sizes<batch>>) -> tensor<?x?x256x5xf32, #tutti.sizes<active, batch>> {
    // CHECK: %[[STORED:.*]] = plan.dispatch {{.*}} -> tensor<?x256x2048xf32, #tutti.sizes<batch>>
    // CHECK: plan.dispatch {{.*}}(%[[STORED]],
    %0 = tutti.windows %x of [32, 32] in [16384, 16384] count [16, 16] step [1000, 1000] gap [1, 1] before [0, 0] : tensor<?x268435456x2xf32, #tutti.sizes<batch>>
    %1 = tutti.get @w : tensor<?x2048x5xf32, #tutti.sizes<active>>
    %2 = tutti.contract %0, %1 "bsk,mkn->mbsn" : tensor<?x256x2048xf32, #tutti.sizes<batch>>, tensor<?x2048x5xf32, #tutti.sizes<active>>
    return %2 : tensor<?x?x256x5xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Rows of a table are added up where they are taken, as they are or behind a mask: bags of categories and the layers behind
// them are one kernel.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @t : tensor<9x4xf32>
  tutti.param per_member @w : tensor<4x2xf32>
  // CHECK-LABEL: func.func @bags
  // CHECK: plan.dispatch @[[K:.*]](%{{.*}}) : (tensor<?x9x4xf32, #tutti.sizes<active>>, tensor<?x5xi64, #tutti.sizes<batch>>, tensor<?x5x1xf32, #tutti.sizes<batch>>, tensor<?x4x2xf32, #tutti.sizes<active>>)
  // CHECK-NOT: plan.dispatch
  // CHECK: plan.kernel @[[K]] chain lifted rows<batch, 1>
  func.func @bags(%x: tensor<?x5xi64, #tutti.sizes<batch>>, %mask: tensor<?x5x1xf32, #tutti.sizes<batch>>) -> tensor<?x?x2xf32, #tutti.sizes<active, batch>> {
    %t = tutti.get @t : tensor<?x9x4xf32, #tutti.sizes<active>>
    %0 = tutti.gather %t at %x axis 1 : tensor<?x9x4xf32, #tutti.sizes<active>>, tensor<?x5xi64, #tutti.sizes<batch>>
    %1 = tutti.map %0, %mask [affine_map<(m, b, s, n) -> (m, b, s, n)>, affine_map<(m, b, s, n) -> (b, s, 0)>]
        : (tensor<?x?x5x4xf32, #tutti.sizes<active, batch>>, tensor<?x5x1xf32, #tutti.sizes<batch>>) -> tensor<?x?x5x4xf32, #tutti.sizes<active, batch>> {
    ^bb0(%a: f32, %c: f32):
      %6 = arith.mulf %a, %c : f32
      tutti.yield %6 : f32
    }
    %2 = tutti.reduce sum %1 [2] : tensor<?x?x5x4xf32, #tutti.sizes<active, batch>>
    %3 = tutti.reshape %2 : tensor<?x?x1x4xf32, #tutti.sizes<active, batch>> -> tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %w = tutti.get @w : tensor<?x4x2xf32, #tutti.sizes<active>>
    %4 = tutti.contract %3, %w "mbk,mkn->mbn" : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x4x2xf32, #tutti.sizes<active>>
    return %4 : tensor<?x?x2xf32, #tutti.sizes<active, batch>>
  }
}
