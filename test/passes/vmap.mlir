// RUN: tutti-opt %s --tutti-vmap --split-input-file | FileCheck %s

// A model: what is shared stays as it is, weights of members and what depends on them get the member axis.
// CHECK-LABEL: module attributes {tutti.members = 3
module attributes {tutti.members = 3 : i64} {
  tutti.param @trunk : tensor<8x4xf32>
  tutti.param per_member @w : tensor<4x2xf32>
  tutti.param per_member @b : tensor<2xf32>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "x"})
  // CHECK-SAME: tensor<?x?x2xf32, #tutti.sizes<active, batch>> {tutti.head = "members", tutti.name = "y"}
  func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x2xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
    // CHECK: %[[TRUNK:.*]] = tutti.get @trunk : tensor<8x4xf32>
    // CHECK: %[[T:.*]] = tutti.contract %[[X]], %[[TRUNK]] "bk,kn->bn"
    // CHECK: %[[H:.*]] = tutti.relu %[[T]] : tensor<?x4xf32, #tutti.sizes<batch>>
    %trunk = tutti.get @trunk : tensor<8x4xf32>
    %t = tutti.contract %x, %trunk "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x4xf32>
    %h = tutti.relu %t : tensor<?x4xf32, #tutti.sizes<batch>>
    // CHECK: %[[W:.*]] = tutti.get @w : tensor<?x4x2xf32, #tutti.sizes<active>>
    // CHECK: %[[Z:.*]] = tutti.contract %[[H]], %[[W]] "bk,mkn->mbn"
    %w = tutti.get @w : tensor<4x2xf32>
    %z = tutti.contract %h, %w "bk,kn->bn" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4x2xf32>
    // CHECK: %[[B:.*]] = tutti.get @b : tensor<?x2xf32, #tutti.sizes<active>>
    // CHECK: %[[BB:.*]] = tutti.reshape %[[B]] : tensor<?x2xf32, #tutti.sizes<active>> -> tensor<?x1x2xf32, #tutti.sizes<active>>
    // CHECK: tutti.add %[[Z]], %[[BB]]
    %b = tutti.get @b : tensor<2xf32>
    %y = tutti.add %z, %b : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2xf32>
    return %y : tensor<?x2xf32, #tutti.sizes<batch>>
  }
}

// -----

// One member: nothing is shared, so that what reads the input alone has the rows of what reads weights.
module attributes {tutti.members = 1 : i64} {
  tutti.param per_member @w : tensor<4xf32>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>)
  func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>) {
    // CHECK: %[[XS:.*]] = tutti.replicate %[[X]] : tensor<8x4xf32> -> tensor<?x8x4xf32, #tutti.sizes<active>>
    // CHECK: %[[H:.*]] = tutti.relu %[[XS]]
    // CHECK: tutti.mul %[[H]], %{{.*}} : tensor<?x8x4xf32, #tutti.sizes<active>>, tensor<?x1x4xf32, #tutti.sizes<active>>
    %h = tutti.relu %x : tensor<8x4xf32>
    %w = tutti.get @w : tensor<4xf32>
    %y = tutti.mul %h, %w : tensor<8x4xf32>, tensor<4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

// Heads: one result each, in the order asked for; a shared value is replicated first.
module attributes {tutti.members = 2 : i64} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32, #tutti.sizes<active>> {tutti.per_member}, %[[S:.*]]: tensor<4xf32>)
  // CHECK-SAME: (tensor<4xf32> {tutti.head = "mean", tutti.name = "y"}, tensor<?x4xf32, #tutti.sizes<active>> {tutti.head = "members", tutti.name = "y"},
  // CHECK-SAME: tensor<4xf32> {tutti.head = "quantile:0.25", tutti.name = "y"}, tensor<?x4xf32, #tutti.sizes<active>> {tutti.head = "members", tutti.name = "s"})
  func.func @main(%x: tensor<4xf32> {tutti.per_member}, %s: tensor<4xf32>)
      -> (tensor<4xf32> {tutti.name = "y", tutti.heads = ["mean", "members", "quantile:0.25"]}, tensor<4xf32> {tutti.name = "s"}) {
    // CHECK: %[[Y:.*]] = tutti.exp %[[X]] : tensor<?x4xf32, #tutti.sizes<active>>
    // CHECK: %[[ALL:.*]] = tutti.replicate %[[S]] : tensor<4xf32> -> tensor<?x4xf32, #tutti.sizes<active>>
    // CHECK: %[[MEAN:.*]] = tutti.head mean %[[Y]]
    // CHECK: %[[QUANTILE:.*]] = tutti.head quantile %[[Y]] at 2.500000e-01
    // CHECK: return %[[MEAN]], %[[Y]], %[[QUANTILE]], %[[ALL]]
    %y = tutti.exp %x : tensor<4xf32>
    return %y, %s : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A map reads what has the member axis by it, and its sizes are counted from behind that.
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d0, -d1 + s1 - 1, d2)>
// CHECK-DAG: #[[SHARED:.*]] = affine_map<(d0, d1, d2) -> (d2)>
module attributes {tutti.members = 3 : i64, tutti.sizes = {batch = array<i64: 1, 8>}} {
  tutti.param @s : tensor<2xf32>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%[[X:.*]]: tensor<?x?x2xf32, #tutti.sizes<active, batch>> {tutti.per_member})
  func.func @main(%x: tensor<?x2xf32, #tutti.sizes<batch>> {tutti.per_member}) -> tensor<?x2xf32, #tutti.sizes<batch>> {
    // CHECK: %[[S:.*]] = tutti.get @s : tensor<2xf32>
    // CHECK: tutti.map %[[X]], %[[S]] [#[[TURNED]], #[[SHARED]]]
    // CHECK-SAME: -> tensor<?x?x2xf32, #tutti.sizes<active, batch>>
    // CHECK: arith.addf
    %s = tutti.get @s : tensor<2xf32>
    %0 = tutti.map %x, %s [affine_map<(b, n)[s] -> (s - b - 1, n)>, affine_map<(b, n) -> (n)>]
        : (tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2xf32>) -> tensor<?x2xf32, #tutti.sizes<batch>> {
    ^bb0(%a: f32, %c: f32):
      %1 = arith.addf %a, %c : f32
      tutti.yield %1 : f32
    }
    return %0 : tensor<?x2xf32, #tutti.sizes<batch>>
  }
}

// -----

// The user's vmap: any axis or none, the callee goes.
// CHECK-NOT: func.func private
func.func private @f(%x: tensor<4xf32>, %w: tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4xf32>) {
  %0 = tutti.contract %x, %w "k,kn->n" : tensor<4xf32>, tensor<4x3xf32>
  %1 = tutti.relu %x : tensor<4xf32>
  return %0, %1 : tensor<3xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @dims
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4x3x10xf32>)
func.func @dims(%x: tensor<4xf32>, %w: tensor<4x3x10xf32>) -> (tensor<3x10xf32>, tensor<10x4xf32>) {
  // CHECK: %[[FRONT:.*]] = tutti.transpose %[[W]] [2, 0, 1]
  // CHECK: %[[Y:.*]] = tutti.contract %[[X]], %[[FRONT]] "k,mkn->mn"
  // CHECK: %[[SHARED:.*]] = tutti.relu %[[X]] : tensor<4xf32>
  // CHECK: %[[BACK:.*]] = tutti.transpose %[[Y]] [1, 0]
  // CHECK: %[[ALL:.*]] = tutti.broadcast %[[SHARED]] : tensor<4xf32> -> tensor<10x4xf32>
  // CHECK: return %[[BACK]], %[[ALL]]
  %0:2 = tutti.vmap @f(%x, %w) in [-1, 2] out [1, 0] size 10 : (tensor<4xf32>, tensor<4x3x10xf32>) -> (tensor<3x10xf32>, tensor<10x4xf32>)
  return %0#0, %0#1 : tensor<3x10xf32>, tensor<10x4xf32>
}

// -----

// Nested, innermost first, below the members.
module attributes {tutti.members = 2 : i64} {
  tutti.param per_member @w : tensor<4xf32>
  func.func private @inner(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
    %0 = tutti.mul %x, %w : tensor<f32>, tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @outer(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tutti.vmap @inner(%x, %w) in [0, 0] out [0] size 4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%[[X:.*]]: tensor<5x4xf32>)
  func.func @main(%x: tensor<5x4xf32>) -> tensor<5x4xf32> {
    // CHECK: %[[W:.*]] = tutti.get @w : tensor<?x4xf32, #tutti.sizes<active>>
    // CHECK: %[[WW:.*]] = tutti.reshape %[[W]] : tensor<?x4xf32, #tutti.sizes<active>> -> tensor<?x1x4xf32, #tutti.sizes<active>>
    // CHECK: tutti.mul %[[X]], %[[WW]] : tensor<5x4xf32>, tensor<?x1x4xf32, #tutti.sizes<active>>
    %w = tutti.get @w : tensor<4xf32>
    %0 = tutti.vmap @outer(%x, %w) in [0, -1] out [0] size 5 : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

// Groups of unequal members are lifted apart, each over its part of the active members; heads see all of them.
module attributes {tutti.members = 3 : i64, tutti.groups = [array<i64: 0, 2>, array<i64: 1>]} {
  tutti.param per_member @p0 : tensor<4xf32>
  tutti.param per_member @"1.p0" : tensor<4xf32>
  // CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32, #tutti.sizes<active>>
  // CHECK: %[[X0:.*]] = tutti.part %[[X:.*]] : tensor<?x4xf32, #tutti.sizes<active>> -> tensor<?x4xf32, #tutti.sizes<active.0>>
  // CHECK: %[[P0:.*]] = tutti.get @p0 : tensor<?x4xf32, #tutti.sizes<active.0>>
  // CHECK: %[[Y0:.*]] = tutti.add %[[X0]], %[[P0]]
  // CHECK: %[[X1:.*]] = tutti.part %[[X]] : tensor<?x4xf32, #tutti.sizes<active>> -> tensor<?x4xf32, #tutti.sizes<active.1>>
  // CHECK: %[[P1:.*]] = tutti.get @"1.p0" : tensor<?x4xf32, #tutti.sizes<active.1>>
  // CHECK: %[[M1:.*]] = tutti.mul %[[X1]], %[[P1]]
  // CHECK: %[[Y1:.*]] = tutti.exp %[[M1]]
  // CHECK: %[[Y:.*]] = tutti.join %[[Y0]], %[[Y1]] : tensor<?x4xf32, #tutti.sizes<active.0>>, tensor<?x4xf32, #tutti.sizes<active.1>> -> tensor<?x4xf32, #tutti.sizes<active>>
  // CHECK: %[[MEAN:.*]] = tutti.head mean %[[Y]]
  // CHECK: return %[[MEAN]]
  // CHECK-NOT: func.func
  func.func @main(%x: tensor<4xf32> {tutti.per_member}) -> (tensor<4xf32> {tutti.heads = ["mean"]}) {
    %p = tutti.get @p0 : tensor<4xf32>
    %0 = tutti.add %x, %p : tensor<4xf32>, tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main.1(%x: tensor<4xf32>) -> tensor<4xf32> {
    %p = tutti.get @"1.p0" : tensor<4xf32>
    %0 = tutti.mul %x, %p : tensor<4xf32>, tensor<4xf32>
    %1 = tutti.exp %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// Indices of the members' own: the member axis comes first, wherever the elements of what all share are chosen.
module attributes {tutti.members = 2 : i64} {
  tutti.param per_member @i : tensor<5xi64>
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: (%[[X:.*]]: tensor<8x12xf32>
  func.func @main(%x: tensor<8x12xf32>) -> (tensor<8x5xf32>, tensor<5x12xf32>) {
    // CHECK: %[[I:.*]] = tutti.get @i : tensor<?x5xi64, #tutti.sizes<active>>
    %i = tutti.get @i : tensor<5xi64>
    // CHECK: %[[XS:.*]] = tutti.replicate %[[X]] : tensor<8x12xf32> -> tensor<?x8x12xf32, #tutti.sizes<active>>
    // CHECK: tutti.gather %[[XS]] at %[[I]] axis 2 batch 1 : tensor<?x8x12xf32, #tutti.sizes<active>>, tensor<?x5xi64, #tutti.sizes<active>>
    %0 = tutti.gather %x at %i axis 1 : tensor<8x12xf32>, tensor<5xi64>
    // CHECK: tutti.gather %[[X]] at %[[I]] axis 0 : tensor<8x12xf32>, tensor<?x5xi64, #tutti.sizes<active>>
    %1 = tutti.gather %x at %i axis 0 : tensor<8x12xf32>, tensor<5xi64>
    return %0, %1 : tensor<8x5xf32>, tensor<5x12xf32>
  }
}
