// RUN: tutti-opt %s --cse --tutti-decompose --tutti-compose --tutti-numerics --tutti-fuse --split-input-file | FileCheck %s
// What all members share, computed again for each of them.

// An input that is put together and scaled is the same for all members. On a CUDA device each member does it again, in
// its own kernel.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>, tutti.sizes = {batch = array<i64: 1, 64>}} {
  tutti.param per_member @w : tensor<8x2xf32>
  // CHECK-LABEL: func.func @scaled
  // CHECK-SAME: (%[[X:.*]]: tensor<?x6xf32, #tutti.sizes<batch>>, %[[U:.*]]: tensor<?x2xf32, #tutti.sizes<batch>>, %[[SCALE:.*]]: tensor<8xf32>)
  func.func @scaled(%x: tensor<?x6xf32, #tutti.sizes<batch>>, %u: tensor<?x2xf32, #tutti.sizes<batch>>, %scale: tensor<8xf32>) -> tensor<?x?x2xf32, #tutti.sizes<active, batch>> {
    // CHECK: plan.dispatch @[[K:.*]](%[[X]], %[[U]], %[[SCALE]], %{{.*}}) : {{.*}} -> tensor<?x?x2xf32, #tutti.sizes<active, batch>>
    // CHECK-NOT: plan.dispatch
    // CHECK: plan.kernel @[[K]] chain lifted rows<batch>
    // CHECK: tutti.concat {{.*}} axis 2 : tensor<?x?x6xf32, #tutti.sizes<active, batch>>, tensor<?x?x2xf32, #tutti.sizes<active, batch>>
    // CHECK-DAG: tutti.reduce mean {{.*}} [2] numerics<rule = lanes>
    // CHECK-DAG: tutti.contract {{.*}} "mbk,mkn->mbn"
    // CHECK-NOT: plan.kernel
    %0 = tutti.concat %x, %u axis 1 : tensor<?x6xf32, #tutti.sizes<batch>>, tensor<?x2xf32, #tutti.sizes<batch>>
    %1 = tutti.mul %0, %scale : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8xf32>
    %w = tutti.get @w : tensor<?x8x2xf32, #tutti.sizes<active>>
    %2 = tutti.contract %1, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x2xf32, #tutti.sizes<active>>
    %3 = tutti.reduce mean %0 [1] : tensor<?x8xf32, #tutti.sizes<batch>>
    %4 = tutti.map %2, %3 [affine_map<(m, b, n) -> (m, b, n)>, affine_map<(m, b, n) -> (b, 0)>]
        : (tensor<?x?x2xf32, #tutti.sizes<active, batch>>, tensor<?x1xf32, #tutti.sizes<batch>>) -> tensor<?x?x2xf32, #tutti.sizes<active, batch>> {
    ^bb0(%a: f32, %c: f32):
      %5 = arith.addf %a, %c : f32
      tutti.yield %5 : f32
    }
    return %4 : tensor<?x?x2xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// What is much beside the members' own work, in calls of many rows, is computed once.
module attributes {tutti.members = 100 : i64, tutti.target = #tutti<target cuda>, tutti.sizes = {batch = array<i64: 1, 8192>}} {
  tutti.param per_member @w : tensor<8x1xf32>
  // CHECK-LABEL: func.func @waves
  // CHECK-COUNT-2: plan.dispatch
  func.func @waves(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x?x1xf32, #tutti.sizes<active, batch>> {
    %0 = tutti.sin %x : tensor<?x8xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<?x8x1xf32, #tutti.sizes<active>>
    %1 = tutti.contract %0, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x1xf32, #tutti.sizes<active>>
    return %1 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// So is what goes on to anything else than the members' rows: keys that all rows of a product read.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>, tutti.sizes = {batch = array<i64: 1, 64>}} {
  tutti.param per_member @w : tensor<8x8xf32>
  // CHECK-LABEL: func.func @keys
  // CHECK: plan.dispatch {{.*}} -> tensor<?x4x8xf32, #tutti.sizes<batch>>
  // CHECK: plan.dispatch
  func.func @keys(%x: tensor<?x4x8xf32, #tutti.sizes<batch>>) -> tensor<?x?x4x4xf32, #tutti.sizes<active, batch>> {
    %0 = tutti.tanh %x : tensor<?x4x8xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<?x8x8xf32, #tutti.sizes<active>>
    %1 = tutti.contract %x, %w "bqk,mkn->mbqn" : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x8x8xf32, #tutti.sizes<active>>
    %2 = tutti.contract %1, %0 "mbqn,bjn->mbqj" : tensor<?x?x4x8xf32, #tutti.sizes<active, batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
    return %2 : tensor<?x?x4x4xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// What members of several groups read becomes each group's own.
module attributes {tutti.members = 3 : i64, tutti.groups = [array<i64: 0, 2>, array<i64: 1>], tutti.target = #tutti<target cuda>, tutti.sizes = {batch = array<i64: 1, 64>}} {
  tutti.param per_member @v : tensor<8x1xf32>
  tutti.param per_member @w : tensor<8x1xf32>
  // CHECK-LABEL: func.func @groups
  // CHECK: plan.dispatch {{.*}} -> tensor<?x?x1xf32, #tutti.sizes<active.{{.}}, batch>>
  // CHECK: plan.dispatch {{.*}} -> tensor<?x?x1xf32, #tutti.sizes<active.{{.}}, batch>>
  // CHECK-NOT: plan.dispatch
  func.func @groups(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x?x1xf32, #tutti.sizes<active, batch>> {
    %0 = tutti.neg %x : tensor<?x8xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<?x8x1xf32, #tutti.sizes<active.0>>
    %v = tutti.get @v : tensor<?x8x1xf32, #tutti.sizes<active.1>>
    %1 = tutti.contract %0, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x1xf32, #tutti.sizes<active.0>>
    %2 = tutti.contract %0, %v "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x1xf32, #tutti.sizes<active.1>>
    %3 = tutti.join %1, %2 : tensor<?x?x1xf32, #tutti.sizes<active.0, batch>>, tensor<?x?x1xf32, #tutti.sizes<active.1, batch>> -> tensor<?x?x1xf32, #tutti.sizes<active, batch>>
    return %3 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// What makes a gather's indices is part of its kernel, and on a CUDA device so is a gather whose rows are read as one.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>} {
  tutti.param per_member @t : tensor<9x4xf32>
  tutti.param per_member @u : tensor<9x4xf32>
  tutti.param per_member @w : tensor<12x7xf32>
  // CHECK-LABEL: func.func @tables
  // CHECK: plan.dispatch
  // CHECK-NOT: plan.dispatch
  // CHECK: plan.kernel {{.*}} chain lifted rows<batch>
  func.func @tables(%i: tensor<?x3xi64, #tutti.sizes<batch>>) -> tensor<?x?x7xf32, #tutti.sizes<active, batch>> {
    // CHECK-DAG: tutti.map {{.*}} -> tensor<?xi64, #tutti.sizes<batch>>
    // CHECK-DAG: tutti.gather {{.*}} axis 1 : tensor<?x9x4xf32, #tutti.sizes<active>>, tensor<?xi64, #tutti.sizes<batch>>
    // CHECK-DAG: tutti.gather {{.*}} axis 1 : tensor<?x9x4xf32, #tutti.sizes<active>>, tensor<?x2xi64, #tutti.sizes<batch>>
    %t = tutti.get @t : tensor<?x9x4xf32, #tutti.sizes<active>>
    %u = tutti.get @u : tensor<?x9x4xf32, #tutti.sizes<active>>
    %0 = tutti.slice %i from [0, 0] size [-1, 1] step [1, 1] : tensor<?x3xi64, #tutti.sizes<batch>>
    %1 = tutti.reshape %0 : tensor<?x1xi64, #tutti.sizes<batch>> -> tensor<?xi64, #tutti.sizes<batch>>
    %2 = tutti.gather %t at %1 axis 1 : tensor<?x9x4xf32, #tutti.sizes<active>>, tensor<?xi64, #tutti.sizes<batch>>
    %3 = tutti.slice %i from [0, 1] size [-1, 2] step [1, 1] : tensor<?x3xi64, #tutti.sizes<batch>>
    %4 = tutti.gather %u at %3 axis 1 : tensor<?x9x4xf32, #tutti.sizes<active>>, tensor<?x2xi64, #tutti.sizes<batch>>
    %5 = tutti.reshape %4 : tensor<?x?x2x4xf32, #tutti.sizes<active, batch>> -> tensor<?x?x8xf32, #tutti.sizes<active, batch>>
    %6 = tutti.concat %2, %5 axis 2 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x?x8xf32, #tutti.sizes<active, batch>>
    %w = tutti.get @w : tensor<?x12x7xf32, #tutti.sizes<active>>
    %7 = tutti.contract %6, %w "mbk,mkn->mbn" : tensor<?x?x12xf32, #tutti.sizes<active, batch>>, tensor<?x12x7xf32, #tutti.sizes<active>>
    return %7 : tensor<?x?x7xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Parameters that other ops than gathers read get the member axis, too.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>} {
  tutti.param @p : tensor<4x2xf32>
  tutti.param per_member @w : tensor<5x2xf32>
  // CHECK-LABEL: func.func @joined
  // CHECK-NOT: tutti.replicate
  // CHECK: plan.dispatch
  // CHECK-NOT: plan.dispatch
  func.func @joined(%x: tensor<4x3xf32>) -> tensor<?x4x2xf32, #tutti.sizes<active>> {
    // CHECK: tutti.concat {{.*}} axis 2 : tensor<?x4x3xf32, #tutti.sizes<active>>, tensor<?x4x2xf32, #tutti.sizes<active>>
    %p = tutti.get @p : tensor<4x2xf32>
    %0 = tutti.concat %x, %p axis 1 : tensor<4x3xf32>, tensor<4x2xf32>
    %w = tutti.get @w : tensor<?x5x2xf32, #tutti.sizes<active>>
    %1 = tutti.contract %0, %w "bk,mkn->mbn" : tensor<4x5xf32>, tensor<?x5x2xf32, #tutti.sizes<active>>
    return %1 : tensor<?x4x2xf32, #tutti.sizes<active>>
  }
}

// -----

// Updates of chosen columns, the same for all.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>, tutti.sizes = {batch = array<i64: 1, 64>}} {
  tutti.param per_member @w : tensor<5x2xf32>
  tutti.param @i : tensor<4x2xi64>
  tutti.param @u : tensor<4x2xf32>
  // CHECK-LABEL: func.func @updated
  // CHECK-NOT: tutti.replicate
  // CHECK: plan.dispatch
  // CHECK-NOT: plan.dispatch
  func.func @updated(%x: tensor<4x5xf32>) -> tensor<?x4x2xf32, #tutti.sizes<active>> {
    // CHECK: tutti.scatter {{.*}} tensor<?x4x5xf32, #tutti.sizes<active>>
    %i = tutti.get @i : tensor<4x2xi64>
    %u = tutti.get @u : tensor<4x2xf32>
    %0 = tutti.scatter set %x at %i with %u : tensor<4x5xf32>, tensor<4x2xi64>, tensor<4x2xf32>
    %w = tutti.get @w : tensor<?x5x2xf32, #tutti.sizes<active>>
    %1 = tutti.contract %0, %w "bk,mkn->mbn" : tensor<4x5xf32>, tensor<?x5x2xf32, #tutti.sizes<active>>
    return %1 : tensor<?x4x2xf32, #tutti.sizes<active>>
  }
}

// -----

// A layer of few terms, the same for all: features made of coordinates. Its matrix stays one.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>, tutti.sizes = {batch = array<i64: 1, 64>}} {
  tutti.param @waves : tensor<2x8xf32>
  tutti.param per_member @w : tensor<8x1xf32>
  // CHECK-LABEL: func.func @fourier
  // CHECK: plan.dispatch @[[K:.*]](%{{.*}}) : (tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2x8xf32>, tensor<?x8x1xf32, #tutti.sizes<active>>)
  // CHECK-NOT: plan.dispatch
  // CHECK: plan.kernel @[[K]] chain lifted rows<batch> weights [1, 2]
  // CHECK: tutti.contract {{.*}} "mbk,kn->mbn" {{.*}} tensor<?x?x2xf32, #tutti.sizes<active, batch>>, tensor<2x8xf32>
  func.func @fourier(%x: tensor<?x2xf32, #tutti.sizes<batch>>) -> tensor<?x?x1xf32, #tutti.sizes<active, batch>> {
    %waves = tutti.get @waves : tensor<2x8xf32>
    %0 = tutti.contract %x, %waves "bk,kn->bn" : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2x8xf32>
    %1 = tutti.sin %0 : tensor<?x8xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<?x8x1xf32, #tutti.sizes<active>>
    %2 = tutti.contract %1, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x1xf32, #tutti.sizes<active>>
    return %2 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// One of more terms is computed once: a trunk.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>, tutti.sizes = {batch = array<i64: 1, 64>}} {
  tutti.param @trunk : tensor<17x8xf32>
  tutti.param per_member @w : tensor<8x1xf32>
  // CHECK-LABEL: func.func @more_terms
  // CHECK-COUNT-2: plan.dispatch
  func.func @more_terms(%x: tensor<?x17xf32, #tutti.sizes<batch>>) -> tensor<?x?x1xf32, #tutti.sizes<active, batch>> {
    %trunk = tutti.get @trunk : tensor<17x8xf32>
    %0 = tutti.contract %x, %trunk "bk,kn->bn" : tensor<?x17xf32, #tutti.sizes<batch>>, tensor<17x8xf32>
    %1 = tutti.sin %0 : tensor<?x8xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<?x8x1xf32, #tutti.sizes<active>>
    %2 = tutti.contract %1, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x1xf32, #tutti.sizes<active>>
    return %2 : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Of a gather the table stays one. Indices that all members share do not, or nothing of it would have the member axis.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>} {
  tutti.param @t : tensor<4x2xf32>
  tutti.param @i : tensor<5xi64>
  tutti.param per_member @w : tensor<2x3xf32>
  // CHECK-LABEL: func.func @looked_up
  // CHECK: tutti.gather {{.*}} : tensor<4x2xf32>, tensor<?x5xi64, #tutti.sizes<active>>
  func.func @looked_up() -> tensor<?x5x3xf32, #tutti.sizes<active>> {
    %t = tutti.get @t : tensor<4x2xf32>
    %i = tutti.get @i : tensor<5xi64>
    %0 = tutti.gather %t at %i axis 0 : tensor<4x2xf32>, tensor<5xi64>
    %1 = tutti.exp %0 : tensor<5x2xf32>
    %w = tutti.get @w : tensor<?x2x3xf32, #tutti.sizes<active>>
    %2 = tutti.contract %1, %w "bk,mkn->mbn" : tensor<5x2xf32>, tensor<?x2x3xf32, #tutti.sizes<active>>
    return %2 : tensor<?x5x3xf32, #tutti.sizes<active>>
  }
}
