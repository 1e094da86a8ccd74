// RUN: tutti-opt %s --tutti-to-kernels --tutti-to-planned --split-input-file | FileCheck %s

// Inputs, outputs and weights are bound to buffers, no tensor is left. A weight lies as its kernel reads it.
module attributes {tutti.members = 3 : i64, tutti.sizes = {batch = array<i64: 1, 64>}} {
  tutti.param per_member @w : tensor<8x4xf32>
  tutti.param per_member @b : tensor<4xf32>
  // CHECK-NOT: func.func
  // CHECK: plan.program @infer target cpu sizes {active = array<i64: 1, 3>, batch = array<i64: 1, 64>} flops<64*active*batch> arena 0 {
  // CHECK-NEXT: %[[X:.*]] = plan.buffer input : tensor<?x8xf32, #tutti.sizes<batch>> port<name = "x">
  // CHECK-NEXT: %[[Y:.*]] = plan.buffer output : tensor<?x?x4xf32, #tutti.sizes<active, batch>> port<name = "y", head = "members">
  // CHECK-NEXT: %[[W:.*]] = plan.buffer constant : {{.*}} layout panels {param = @w}
  // CHECK-NEXT: %[[B:.*]] = plan.buffer constant : tensor<?x4xf32, #tutti.sizes<active>> layout raw {param = @b}
  // CHECK-NEXT: plan.launch @{{.*}}(%[[X]], %[[W]], %[[B]]) to (%[[Y]])
  // CHECK-NEXT: }
  func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x?x4xf32, #tutti.sizes<active, batch>> {tutti.name = "y", tutti.head = "members"}) {
    %w = tutti.get @w : tensor<?x8x4xf32, #tutti.sizes<active>>
    %0 = tutti.contract %x, %w "bk,mkn->mbn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<?x8x4xf32, #tutti.sizes<active>>
    %b = tutti.get @b : tensor<?x4xf32, #tutti.sizes<active>>
    %bb = tutti.reshape %b : tensor<?x4xf32, #tutti.sizes<active>> -> tensor<?x1x4xf32, #tutti.sizes<active>>
    %1 = tutti.add %0, %bb : tensor<?x?x4xf32, #tutti.sizes<active, batch>>, tensor<?x1x4xf32, #tutti.sizes<active>>
    return %1 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Intermediate values share memory as soon as their lives do not touch: of three in a row the last takes the place of the first.
module attributes {tutti.members = 1 : i64} {
  // CHECK: plan.program {{.*}} arena 512 {
  // CHECK: %[[A:.*]] = plan.buffer arena : tensor<8x8xf32>{{$}}
  // CHECK: %[[B:.*]] = plan.buffer arena : tensor<8x8xf32> {offset = 256 : i64}
  // CHECK: %[[C:.*]] = plan.buffer arena : tensor<8x8xf32>{{$}}
  // CHECK: plan.launch @{{.*}}(%{{.*}}) to (%[[A]])
  // CHECK: plan.launch @{{.*}}(%[[A]]) to (%[[B]])
  // CHECK: plan.launch @{{.*}}(%[[B]]) to (%[[C]])
  // CHECK: plan.launch @{{.*}}(%[[C]]) to (%{{.*}})
  func.func @main(%x: tensor<8x8xf32> {tutti.name = "x"}) -> (tensor<8x8xf32> {tutti.name = "y", tutti.head = "members"}) {
    %0 = tutti.reduce sum %x [1] : tensor<8x8xf32>
    %1 = tutti.sub %x, %0 : tensor<8x8xf32>, tensor<8x1xf32>
    %2 = tutti.transpose %1 [1, 0] : tensor<8x8xf32>
    %3 = tutti.reduce sum %2 [1] : tensor<8x8xf32>
    %4 = tutti.sub %2, %3 : tensor<8x8xf32>, tensor<8x1xf32>
    %5 = tutti.transpose %4 [1, 0] : tensor<8x8xf32>
    %6 = tutti.reduce sum %5 [1] : tensor<8x8xf32>
    %7 = tutti.sub %5, %6 : tensor<8x8xf32>, tensor<8x1xf32>
    %8 = tutti.transpose %7 [1, 0] : tensor<8x8xf32>
    return %8 : tensor<8x8xf32>
  }
}

// -----

// Members' values that only heads of their own kernel read have a place each.
module attributes {tutti.members = 2 : i64, tutti.sizes = {}} {
  // CHECK: plan.program {{.*}} arena 1024 {
  // CHECK: %[[A:.*]] = plan.buffer arena : tensor<?x8x8xf32, #tutti.sizes<active>>{{$}}
  // CHECK: %[[B:.*]] = plan.buffer arena : tensor<?x8x8xf32, #tutti.sizes<active>> {offset = 512 : i64}
  // CHECK: plan.launch @{{.*}}(%{{.*}}) to (%[[A]], %[[B]], %{{.*}}, %{{.*}})
  func.func @main(%x: tensor<?x8x8xf32, #tutti.sizes<active>> {tutti.name = "x"}) -> (tensor<8x8xf32> {tutti.name = "y", tutti.head = "mean"}, tensor<8x8xf32> {tutti.name = "z", tutti.head = "max"}) {
    %0 = tutti.exp %x : tensor<?x8x8xf32, #tutti.sizes<active>>
    %1 = tutti.tanh %x : tensor<?x8x8xf32, #tutti.sizes<active>>
    %2 = tutti.head mean %0 : tensor<?x8x8xf32, #tutti.sizes<active>>
    %3 = tutti.head max %1 : tensor<?x8x8xf32, #tutti.sizes<active>>
    return %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// A value that is read through a view lives as long as the view; a small constant is a buffer of its own.
module attributes {tutti.members = 1 : i64} {
  // CHECK: plan.program {{.*}} arena 576 {
  // CHECK-DAG: %[[A:.*]] = plan.buffer arena : tensor<4x16xf32>{{$}}
  // CHECK-DAG: %[[B:.*]] = plan.buffer arena : tensor<16x4xf32> {offset = 256 : i64}
  // CHECK-DAG: %[[S:.*]] = plan.buffer arena : tensor<1x4xf32> {offset = 512 : i64}
  // CHECK: plan.launch @{{.*}}(%{{.*}}) to (%[[A]])
  // CHECK: plan.launch @{{.*}}(%[[A]]) to (%[[B]])
  // CHECK: plan.launch @{{.*}}(%[[B]]) to (%[[S]])
  // CHECK: %[[T:.*]] = plan.buffer constant : tensor<4xf32> layout raw {value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>}
  // CHECK: plan.launch @{{.*}}(%[[S]], %[[A]], %[[T]]) to (%{{.*}})
  func.func @main(%x: tensor<4x16xf32> {tutti.name = "x"}) -> (tensor<16x4xf32> {tutti.name = "y", tutti.head = "members"}) {
    %0 = tutti.exp %x : tensor<4x16xf32>
    %1 = tutti.transpose %0 [1, 0] : tensor<4x16xf32>
    %2 = tutti.reduce sum %1 [0] : tensor<16x4xf32>
    %3 = tutti.broadcast %2 : tensor<1x4xf32> -> tensor<16x4xf32>
    %4 = tutti.reshape %0 : tensor<4x16xf32> -> tensor<16x4xf32>
    %5 = tutti.add %3, %4 : tensor<16x4xf32>, tensor<16x4xf32>
    %6 = tutti.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %7 = tutti.mul %5, %6 : tensor<16x4xf32>, tensor<4xf32>
    return %7 : tensor<16x4xf32>
  }
}

// -----

// A head counts the members that have finished a row tile: one ticket a tile of the smallest kind, zeroed once.
module attributes {tutti.members = 3 : i64, tutti.sizes = {batch = array<i64: 1, 60>}} {
  // CHECK: plan.program
  // CHECK-DAG: %[[MEAN:.*]] = plan.buffer output : tensor<?x4xf32, #tutti.sizes<batch>> port<name = "y", head = "mean">
  // CHECK-DAG: %[[ALL:.*]] = plan.buffer arena : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
  // CHECK-DAG: %[[TICKETS:.*]] = plan.buffer state : tensor<60xi32>
  // CHECK: plan.launch @{{.*}}(%{{.*}}) to (%[[ALL]], %[[MEAN]]) tickets %[[TICKETS]]
  func.func @main(%x: tensor<?x?x4xf32, #tutti.sizes<active, batch>> {tutti.name = "x"}) -> (tensor<?x4xf32, #tutti.sizes<batch>> {tutti.name = "y", tutti.head = "mean"}) {
    %0 = tutti.exp %x : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    %1 = tutti.head mean %0 : tensor<?x?x4xf32, #tutti.sizes<active, batch>>
    return %1 : tensor<?x4xf32, #tutti.sizes<batch>>
  }
}

// -----

// On CUDA devices a weight lies as the product that reads it wants it.
module attributes {tutti.target = #tutti<target cuda>, tutti.precision = #tutti<precision f16>, tutti.members = 1 : i64} {
  tutti.param @w : tensor<8x4xf32>
  // CHECK: plan.program @infer target cuda
  // CHECK: plan.buffer constant : tensor<8x4xf32> layout matrices.f16 {param = @w}
  func.func @main(%x: tensor<2x8xf32> {tutti.name = "x"}) -> (tensor<2x4xf32> {tutti.name = "y", tutti.head = "members"}) {
    %w = tutti.get @w : tensor<8x4xf32>
    %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<2x8xf32>, tensor<8x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----

// What all members share is computed once, and copied for each of them ...
module attributes {tutti.members = 2 : i64} {
  // CHECK: plan.program
  // CHECK: %[[ONCE:.*]] = plan.buffer arena : tensor<8x8xf32>
  // CHECK: plan.launch @[[COMPUTE:.*]](%{{.*}}) to (%[[ONCE]])
  // CHECK: plan.launch @[[COPY:.*]](%[[ONCE]]) to (%{{.*}})
  // CHECK: plan.kernel @[[COMPUTE]] element rows
  // CHECK: plan.kernel @[[COPY]] element lifted rows
  func.func @main(%x: tensor<8x8xf32> {tutti.name = "x"}) -> (tensor<?x8x8xf32, #tutti.sizes<active>> {tutti.name = "y", tutti.head = "members"}) {
    %0 = tutti.exp %x : tensor<8x8xf32>
    %1 = tutti.replicate %0 : tensor<8x8xf32> -> tensor<?x8x8xf32, #tutti.sizes<active>>
    return %1 : tensor<?x8x8xf32, #tutti.sizes<active>>
  }
}

// -----

// ... unless there is one: then it is made where the output lies. An output that is an input is still a copy.
module attributes {tutti.members = 1 : i64} {
  // CHECK: plan.program {{.*}} arena 0
  // CHECK: %[[X:.*]] = plan.buffer input
  // CHECK: %[[Y:.*]] = plan.buffer output : tensor<?x8x8xf32, #tutti.sizes<active>> {{.*}}name = "y"
  // CHECK: %[[Z:.*]] = plan.buffer output : tensor<?x8x8xf32, #tutti.sizes<active>> {{.*}}name = "z"
  // CHECK-DAG: plan.launch @{{.*}}(%[[X]]) to (%[[Y]])
  // CHECK-DAG: plan.launch @{{.*}}(%[[X]]) to (%[[Z]])
  // CHECK-NOT: plan.launch
  // CHECK: plan.kernel
  func.func @main(%x: tensor<8x8xf32> {tutti.name = "x"}) -> (tensor<?x8x8xf32, #tutti.sizes<active>> {tutti.name = "y", tutti.head = "members"},
                                                              tensor<?x8x8xf32, #tutti.sizes<active>> {tutti.name = "z", tutti.head = "members"}) {
    %0 = tutti.exp %x : tensor<8x8xf32>
    %1 = tutti.replicate %0 : tensor<8x8xf32> -> tensor<?x8x8xf32, #tutti.sizes<active>>
    %2 = tutti.replicate %x : tensor<8x8xf32> -> tensor<?x8x8xf32, #tutti.sizes<active>>
    return %1, %2 : tensor<?x8x8xf32, #tutti.sizes<active>>, tensor<?x8x8xf32, #tutti.sizes<active>>
  }
}

// -----

// Launches along one axis may run strip by strip of it, if it is outermost wherever it is ...
module attributes {tutti.members = 2 : i64, tutti.sizes = {batch = array<i64: 1, 64>}} {
  // CHECK: plan.program {{.*}} arena 10240 attributes {strips = "batch"} {
  func.func @main(%x: tensor<?x4x5xf32, #tutti.sizes<batch>> {tutti.name = "x"}, %s: tensor<?x5x4xf32, #tutti.sizes<active>> {tutti.name = "s"}) -> (tensor<?x?x5x4xf32, #tutti.sizes<active, batch>> {tutti.name = "y", tutti.head = "members"}) {
    %0 = tutti.reduce sum %x [2] : tensor<?x4x5xf32, #tutti.sizes<batch>>
    %1 = tutti.sub %x, %0 : tensor<?x4x5xf32, #tutti.sizes<batch>>, tensor<?x4x1xf32, #tutti.sizes<batch>>
    %2 = tutti.transpose %1 [0, 2, 1] : tensor<?x4x5xf32, #tutti.sizes<batch>>
    %3 = tutti.reduce sum %2 [2] : tensor<?x5x4xf32, #tutti.sizes<batch>>
    %4 = tutti.sub %2, %3 : tensor<?x5x4xf32, #tutti.sizes<batch>>, tensor<?x5x1xf32, #tutti.sizes<batch>>
    %5 = tutti.reshape %s : tensor<?x5x4xf32, #tutti.sizes<active>> -> tensor<?x1x5x4xf32, #tutti.sizes<active>>
    %6 = tutti.add %4, %5 : tensor<?x5x4xf32, #tutti.sizes<batch>>, tensor<?x1x5x4xf32, #tutti.sizes<active>>
    return %6 : tensor<?x?x5x4xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// ... which it is not here, and of a single launch there is nothing to keep.
module attributes {tutti.members = 1 : i64, tutti.sizes = {batch = array<i64: 1, 64>}} {
  // CHECK: plan.program {{.*}} arena {{[1-9][0-9]*}} {
  func.func @main(%x: tensor<4x?x5xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x5x4xf32, #tutti.sizes<batch>> {tutti.name = "y", tutti.head = "members"}) {
    %0 = tutti.reduce sum %x [2] : tensor<4x?x5xf32, #tutti.sizes<batch>>
    %1 = tutti.sub %x, %0 : tensor<4x?x5xf32, #tutti.sizes<batch>>, tensor<4x?x1xf32, #tutti.sizes<batch>>
    %2 = tutti.transpose %1 [1, 2, 0] : tensor<4x?x5xf32, #tutti.sizes<batch>>
    %3 = tutti.reduce sum %2 [2] : tensor<?x5x4xf32, #tutti.sizes<batch>>
    %4 = tutti.sub %2, %3 : tensor<?x5x4xf32, #tutti.sizes<batch>>, tensor<?x5x1xf32, #tutti.sizes<batch>>
    return %4 : tensor<?x5x4xf32, #tutti.sizes<batch>>
  }
}

// -----

// Launches whose tasks together are more than the runtime counts in a step come one after the other.
module attributes {tutti.members = 1 : i64} {
  // CHECK: plan.buffer input : tensor<16000000000x1xi8>
  // CHECK-NOT: plan.parallel
  // CHECK: plan.launch
  // CHECK-NEXT: plan.launch
  func.func @main(%x: tensor<16000000000x1xi8> {tutti.name = "x"}, %z: tensor<15999999992x1xi8> {tutti.name = "z"})
      -> (tensor<16000000000x1xi8> {tutti.name = "y"}, tensor<15999999992x1xi8> {tutti.name = "q"}) {
    %0 = tutti.neg %x : tensor<16000000000x1xi8>
    %1 = tutti.abs %z : tensor<15999999992x1xi8>
    return %0, %1 : tensor<16000000000x1xi8>, tensor<15999999992x1xi8>
  }
}
