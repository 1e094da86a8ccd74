// RUN: tutti-opt %s --cse --tutti-decompose --tutti-compose --tutti-numerics --tutti-fuse --split-input-file | FileCheck %s
// Axes that a reduction keeps.

// A mean over places keeps their axis, and so does what is computed of it: one kernel. Who reads that otherwise has a view.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<12x2xf32>
  // CHECK-LABEL: func.func @pooled
  // CHECK-SAME: (%[[X:.*]]: tensor<?x?x5x4xf32, #tutti.sizes<active, batch>>, %[[U:.*]]: tensor<?x4xf32, #tutti.sizes<batch>>)
  func.func @pooled(%x: tensor<?x?x5x4xf32, #tutti.sizes<active, batch>>, %u: tensor<?x4xf32, #tutti.sizes<batch>>) -> (tensor<?x?x2xf32, #tutti.sizes<active, batch>>, tensor<?x2xf32, #tutti.sizes<batch>>) {
    // CHECK: %[[Y:.*]]:2 = plan.dispatch @[[K:.*]](%[[X]], %[[U]], %{{.*}}) : {{.*}} -> (tensor<?x?x1x2xf32, #tutti.sizes<active, batch>>, tensor<?x1x2xf32, #tutti.sizes<batch>>)
    // CHECK-NOT: plan.dispatch
    // CHECK-DAG: tutti.reshape %[[Y]]#0 : {{.*}} -> tensor<?x?x2xf32, #tutti.sizes<active, batch>>
    // CHECK-DAG: tutti.reshape %[[Y]]#1 : {{.*}} -> tensor<?x2xf32, #tutti.sizes<batch>>
    // CHECK: plan.kernel @[[K]] chain lifted rows<batch, 1>
    // CHECK: tutti.concat {{.*}} axis 3
    // CHECK: tutti.contract {{.*}} "mbak,mkn->mban"
    // CHECK-NOT: plan.kernel
    %0 = tutti.reduce mean %x [2] : tensor<?x?x5x4xf32, #tutti.sizes<active, batch>>
    %1 = tutti.reshape %0 : tensor<?x?x1x4xf32, #tutti.sizes<active, batch>> -> tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %2 = tutti.reduce max %x [2] : tensor<?x?x5x4xf32, #tutti.sizes<active, batch>>
    %3 = tutti.reshape %2 : tensor<?x?x1x4xf32, #tutti.sizes<active, batch>> -> tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %4 = tutti.replicate %u : tensor<?x4xf32, #tutti.sizes<batch>> -> tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %5 = tutti.concat %1, %3, %4 axis 2 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %w = tutti.get @w : tensor<?x12x2xf32, #tutti.sizes<active>>
    %6 = tutti.contract %5, %w "mbk,mkn->mbn" : tensor<?x?x12xf32, #tutti.sizes<active, batch>>, tensor<?x12x2xf32, #tutti.sizes<active>>
    %7 = tutti.reduce sum %6 [2] : tensor<?x?x2xf32, #tutti.sizes<active, batch>>
    %8 = tutti.sub %6, %7 : tensor<?x?x2xf32, #tutti.sizes<active, batch>>, tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    %9 = tutti.head mean %8 : tensor<?x?x2xf32, #tutti.sizes<active, batch>>
    return %8, %9 : tensor<?x?x2xf32, #tutti.sizes<active, batch>>, tensor<?x2xf32, #tutti.sizes<batch>>
  }
}

// -----

// One that is long is spread over the whole device: a kernel of its own.
module attributes {tutti.members = 3 : i64} {
  tutti.param per_member @w : tensor<4x2xf32>
  // CHECK-LABEL: func.func @long
  // CHECK-COUNT-2: plan.dispatch
  func.func @long(%x: tensor<?x?x1025x4xf32, #tutti.sizes<active, batch>>) -> tensor<?x?x2xf32, #tutti.sizes<active, batch>> {
    %0 = tutti.reduce mean %x [2] : tensor<?x?x1025x4xf32, #tutti.sizes<active, batch>>
    %1 = tutti.reshape %0 : tensor<?x?x1x4xf32, #tutti.sizes<active, batch>> -> tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %w = tutti.get @w : tensor<?x4x2xf32, #tutti.sizes<active>>
    %2 = tutti.contract %1, %w "mbk,mkn->mbn" : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x4x2xf32, #tutti.sizes<active>>
    return %2 : tensor<?x?x2xf32, #tutti.sizes<active, batch>>
  }
}
