// RUN: tutti-opt %s --tutti-decompose --split-input-file | FileCheck %s
// Ops in terms of simpler ones.

// ... and below a head, so that the head ends the kernel of its members.
// CHECK-LABEL: func.func @below_head
func.func @below_head(%x: tensor<?x?x1xf32, #tutti.sizes<active, batch>>) -> tensor<?xf32, #tutti.sizes<batch>> {
  // CHECK: %[[M:.*]] = tutti.map
  // CHECK: %[[H:.*]] = tutti.head mean %[[M]] : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
  // CHECK: tutti.reshape %[[H]] : tensor<?x1xf32, #tutti.sizes<batch>> -> tensor<?xf32, #tutti.sizes<batch>>
  %0 = tutti.exp %x : tensor<?x?x1xf32, #tutti.sizes<active, batch>>
  %1 = tutti.reshape %0 : tensor<?x?x1xf32, #tutti.sizes<active, batch>> -> tensor<?x?xf32, #tutti.sizes<active, batch>>
  %2 = tutti.head mean %1 : tensor<?x?xf32, #tutti.sizes<active, batch>>
  return %2 : tensor<?xf32, #tutti.sizes<batch>>
}

// -----

// A vote looks along the last axis, which must be the model's.
// CHECK-LABEL: func.func @vote
func.func @vote(%x: tensor<?x?x3x1xf32, #tutti.sizes<active, batch>>) -> tensor<?xi64, #tutti.sizes<batch>> {
  // CHECK: %[[V:.*]] = tutti.reshape
  // CHECK: tutti.head vote %[[V]]
  %0 = tutti.exp %x : tensor<?x?x3x1xf32, #tutti.sizes<active, batch>>
  %1 = tutti.reshape %0 : tensor<?x?x3x1xf32, #tutti.sizes<active, batch>> -> tensor<?x?x3xf32, #tutti.sizes<active, batch>>
  %2 = tutti.head vote %1 : tensor<?x?x3xf32, #tutti.sizes<active, batch>>
  return %2 : tensor<?xi64, #tutti.sizes<batch>>
}

// -----

// A transposed value that is rows times a weight as it lies is that: such sums have an order of their own.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32, #tutti.sizes<batch>>)
module {
  tutti.param @w : tensor<8x5xf32>
  func.func @rows(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x5xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.contract %[[X]], %{{.*}} "bk,kn->bn"
    %w = tutti.get @w : tensor<8x5xf32>
    %0 = tutti.transpose %x [1, 0] : tensor<?x8xf32, #tutti.sizes<batch>>
    %1 = tutti.contract %0, %w "kb,kn->bn" : tensor<8x?xf32, #tutti.sizes<batch>>, tensor<8x5xf32>
    return %1 : tensor<?x5xf32, #tutti.sizes<batch>>
  }
}

// -----

// The last axes that are reduced are one, and axes of one element behind them are none.
// CHECK-LABEL: func.func @reduce_in_row
func.func @reduce_in_row(%x: tensor<?x3x7x1xf32, #tutti.sizes<batch>>) -> (tensor<?x1x1x1xf32, #tutti.sizes<batch>>, tensor<?x3x1x1xf32, #tutti.sizes<batch>>, tensor<?x1x7x1xf32, #tutti.sizes<batch>>) {
  // CHECK: %[[ALL:.*]] = tutti.reshape %arg0 {{.*}} -> tensor<?x21xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reduce sum %[[ALL]] [1]
  // CHECK: %[[ROWS:.*]] = tutti.reshape %arg0 {{.*}} -> tensor<?x3x7xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reduce max %[[ROWS]] [2]
  // CHECK: tutti.reduce sum %arg0 [1]
  %0 = tutti.reduce sum %x [1, 2] : tensor<?x3x7x1xf32, #tutti.sizes<batch>>
  %1 = tutti.reduce max %x [2] : tensor<?x3x7x1xf32, #tutti.sizes<batch>>
  %2 = tutti.reduce sum %x [1] : tensor<?x3x7x1xf32, #tutti.sizes<batch>>
  return %0, %1, %2 : tensor<?x1x1x1xf32, #tutti.sizes<batch>>, tensor<?x3x1x1xf32, #tutti.sizes<batch>>, tensor<?x1x7x1xf32, #tutti.sizes<batch>>
}

// -----

// A head of values whose axis in front of the members goes is one of the members: the reshape stays before it.
// CHECK-LABEL: func.func @head_behind_a_reshape
func.func @head_behind_a_reshape(%x: tensor<1x?x3xf32, #tutti.sizes<active>>) -> tensor<3xf32> {
  // CHECK: %[[MEMBERS:.*]] = tutti.reshape %arg0 : tensor<1x?x3xf32, #tutti.sizes<active>> -> tensor<?x3xf32, #tutti.sizes<active>>
  // CHECK: tutti.head mean %[[MEMBERS]]
  %0 = tutti.reshape %x : tensor<1x?x3xf32, #tutti.sizes<active>> -> tensor<?x3xf32, #tutti.sizes<active>>
  %1 = tutti.head mean %0 : tensor<?x3xf32, #tutti.sizes<active>>
  return %1 : tensor<3xf32>
}

// -----

// Sums and products of a few elements that are chosen along the axis read them where they are; not of many, nor where the
// row is wanted by itself, or its places are not known. A sum begins with +0.
// CHECK-LABEL: func.func @reduce_chosen
func.func @reduce_chosen(%x: tensor<?x10xf32, #tutti.sizes<batch>>, %j: tensor<3xi64>) -> (tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>) {
  // CHECK: arith.mulf
  // CHECK: arith.mulf
  // CHECK: arith.addf
  // CHECK: arith.constant 0.000000e+00
  // CHECK: arith.addf
  // CHECK: tutti.reduce sum
  // CHECK: tutti.reduce max
  // CHECK: tutti.reduce prod
  // CHECK-NOT: tutti.reduce
  %i = tutti.constant dense<[0, 0, 3]> : tensor<3xi64>
  %0 = tutti.gather %x at %i axis 1 : tensor<?x10xf32, #tutti.sizes<batch>>, tensor<3xi64>
  %a = tutti.reduce prod %0 [1] : tensor<?x3xf32, #tutti.sizes<batch>>
  %1 = tutti.slice %x from [0, 0] size [-1, 2] step [1, 3] : tensor<?x10xf32, #tutti.sizes<batch>>
  %b = tutti.reduce sum %1 [1] : tensor<?x2xf32, #tutti.sizes<batch>>
  %2 = tutti.slice %x from [0, 0] size [-1, 5] step [1, 1] : tensor<?x10xf32, #tutti.sizes<batch>>
  %c = tutti.reduce sum %2 [1] : tensor<?x5xf32, #tutti.sizes<batch>>
  %3 = tutti.slice %x from [0, 0] size [-1, 3] step [1, 1] : tensor<?x10xf32, #tutti.sizes<batch>>
  %d = tutti.reduce max %3 [1] : tensor<?x3xf32, #tutti.sizes<batch>>
  %4 = tutti.gather %x at %j axis 1 : tensor<?x10xf32, #tutti.sizes<batch>>, tensor<3xi64>
  %e = tutti.reduce prod %4 [1] : tensor<?x3xf32, #tutti.sizes<batch>>
  return %a, %b, %c, %d, %e : tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
}

// -----

// x sigmoid(x) is one function of CUDA devices at bf16, if nothing else reads the sigmoid: also of one row, whose place is a constant.
module attributes {tutti.target = #tutti<target cuda>, tutti.precision = #tutti<precision bf16>} {
  // CHECK-LABEL: func.func @gates
  func.func @gates(%x: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
    // CHECK: tutti.logistic {{%[a-z0-9]+}} {gates} : f32
    %0 = tutti.sigmoid %x : tensor<1x8xf32>
    %1 = tutti.mul %0, %x : tensor<1x8xf32>, tensor<1x8xf32>
    // CHECK: tutti.logistic {{%[a-z0-9]+}} : f32
    %2 = tutti.neg %x : tensor<1x8xf32>
    %3 = tutti.sigmoid %2 : tensor<1x8xf32>
    %4 = tutti.mul %2, %3 : tensor<1x8xf32>, tensor<1x8xf32>
    %5 = tutti.add %3, %4 : tensor<1x8xf32>, tensor<1x8xf32>
    return %1, %5 : tensor<1x8xf32>, tensor<1x8xf32>
  }
}

// -----

// A number of each row of one value and the row of another that belongs to it: elements are multiplied, rows are summed.
module attributes {tutti.members = 2 : i64} {
  // CHECK-LABEL: func.func @rows(
  // CHECK-NOT: tutti.contract
  // CHECK: arith.mulf
  // CHECK: tutti.reduce sum {{.*}} [4] : tensor<?x?x7x2x24xf32, #tutti.sizes<active, batch>>
  func.func @rows(%x: tensor<?x2x24xf32, #tutti.sizes<batch>> {tutti.name = "x"}, %t: tensor<?x?x7x2x24xf32, #tutti.sizes<active, batch>> {tutti.name = "t"})
      -> (tensor<?x?x7x2xf32, #tutti.sizes<active, batch>> {tutti.name = "y", tutti.head = "members"}) {
    %y = tutti.contract %x, %t "bcp,mbncp->mbnc" : tensor<?x2x24xf32, #tutti.sizes<batch>>, tensor<?x?x7x2x24xf32, #tutti.sizes<active, batch>>
    return %y : tensor<?x?x7x2xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// The members' axis is none of a member's own labels: the same, with the axes of the result in another order.
module attributes {tutti.members = 2 : i64} {
  // CHECK-LABEL: func.func @shared(
  // CHECK-NOT: tutti.contract
  // CHECK: tutti.reduce sum {{.*}} : tensor<?x?x7x2x24xf32, #tutti.sizes<active, batch>>
  func.func @shared(%x: tensor<?x?x7x2x24xf32, #tutti.sizes<active, batch>> {tutti.name = "x"}, %t: tensor<?x7x2x24xf32, #tutti.sizes<batch>> {tutti.name = "t"})
      -> (tensor<?x?x2x7xf32, #tutti.sizes<active, batch>> {tutti.name = "y", tutti.head = "members"}) {
    %y = tutti.contract %x, %t "mbncp,bncp->mbcn" : tensor<?x?x7x2x24xf32, #tutti.sizes<active, batch>>, tensor<?x7x2x24xf32, #tutti.sizes<batch>>
    return %y : tensor<?x?x2x7xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// Columns that the other operand has for itself are a tile's.
module attributes {tutti.members = 2 : i64} {
  // CHECK-LABEL: func.func @columns(
  // CHECK: tutti.contract
  // CHECK-NOT: tutti.reduce
  func.func @columns(%x: tensor<?x2x24xf32, #tutti.sizes<batch>> {tutti.name = "x"}, %t: tensor<?x?x2x7x24xf32, #tutti.sizes<active, batch>> {tutti.name = "t"})
      -> (tensor<?x?x2x7xf32, #tutti.sizes<active, batch>> {tutti.name = "y", tutti.head = "members"}) {
    %y = tutti.contract %x, %t "bcp,mbcnp->mbcn" : tensor<?x2x24xf32, #tutti.sizes<batch>>, tensor<?x?x2x7x24xf32, #tutti.sizes<active, batch>>
    return %y : tensor<?x?x2x7xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// A float that becomes a byte and a float again stays a float; its range is cut where what it comes from has another.
module {
  // CHECK-LABEL: func.func @there_and_back(
  // CHECK-NOT: fptosi
  // CHECK-COUNT-2: arith.cmpf ord
  // CHECK: math.trunc
  // CHECK-NOT: fptosi
  // CHECK: return
  func.func @there_and_back(%x: tensor<?x5xf32, #tutti.sizes<batch>> {tutti.name = "x"})
      -> (tensor<?x5xf32, #tutti.sizes<batch>> {tutti.name = "y"}, tensor<?x5xf32, #tutti.sizes<batch>> {tutti.name = "z"}) {
    %high = tutti.constant dense<127.0> : tensor<f32>
    %low = tutti.constant dense<-128.0> : tensor<f32>
    %0 = tutti.max %x, %low : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<f32>
    %1 = tutti.min %0, %high : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<f32>
    %2 = tutti.cast %1 : tensor<?x5xf32, #tutti.sizes<batch>> -> tensor<?x5xi8, #tutti.sizes<batch>>
    %3 = tutti.cast %2 : tensor<?x5xi8, #tutti.sizes<batch>> -> tensor<?x5xf32, #tutti.sizes<batch>>
    %4 = tutti.cast %x : tensor<?x5xf32, #tutti.sizes<batch>> -> tensor<?x5xui16, #tutti.sizes<batch>>
    %5 = tutti.cast %4 : tensor<?x5xui16, #tutti.sizes<batch>> -> tensor<?x5xf32, #tutti.sizes<batch>>
    return %3, %5 : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<?x5xf32, #tutti.sizes<batch>>
  }
}
