// RUN: env MALLOC_PERTURB_=165 tutti-opt %s --tutti-decompose --tutti-compose --split-input-file | FileCheck %s
// What is computed of an input.

// What is computed of an input alone has the shape of what reads it: pixels are scaled as the row that a layer reads.
tutti.param @c : tensor<3x1xf32>
tutti.param @w : tensor<192x7xf32>
// CHECK-DAG: #[[CHANNEL:.*]] = affine_map<(d0, d1){{.*}} -> (d1 floordiv 64, 0)>
// CHECK-LABEL: func.func @pixels
// CHECK-SAME: (%[[X:.*]]: tensor<?x3x64xf32, #tutti.sizes<batch>>)
func.func @pixels(%x: tensor<?x3x64xf32, #tutti.sizes<batch>>) -> tensor<?x7xf32, #tutti.sizes<batch>> {
  // CHECK: %[[C:.*]] = tutti.get @c
  // CHECK: %[[V:.*]] = tutti.reshape %[[X]] : {{.*}} -> tensor<?x192xf32, #tutti.sizes<batch>>
  // CHECK: %[[S:.*]] = tutti.map %[[V]], %[[C]] [#{{.*}}, #[[CHANNEL]]]
  // CHECK: %[[Y:.*]] = tutti.map %[[S]] {{.*}} -> tensor<?x192xf32, #tutti.sizes<batch>>
  // CHECK: tutti.contract %[[Y]]
  %c = tutti.get @c : tensor<3x1xf32>
  %w = tutti.get @w : tensor<192x7xf32>
  %0 = tutti.sub %x, %c : tensor<?x3x64xf32, #tutti.sizes<batch>>, tensor<3x1xf32>
  %1 = tutti.tanh %0 : tensor<?x3x64xf32, #tutti.sizes<batch>>
  %2 = tutti.reshape %1 : tensor<?x3x64xf32, #tutti.sizes<batch>> -> tensor<?x192xf32, #tutti.sizes<batch>>
  %3 = tutti.contract %2, %w "bk,kn->bn" : tensor<?x192xf32, #tutti.sizes<batch>>, tensor<192x7xf32>
  return %3 : tensor<?x7xf32, #tutti.sizes<batch>>
}

// -----

// Unless somebody reads it as it is.
tutti.param @w : tensor<12x7xf32>
// CHECK-LABEL: func.func @read_twice
// CHECK-SAME: (%[[X:.*]]: tensor<?x3x4xf32, #tutti.sizes<batch>>)
func.func @read_twice(%x: tensor<?x3x4xf32, #tutti.sizes<batch>>) -> (tensor<?x7xf32, #tutti.sizes<batch>>, tensor<?x3x1xf32, #tutti.sizes<batch>>) {
  // CHECK: %[[T:.*]] = tutti.map %[[X]]
  // CHECK: tutti.reshape %[[T]]
  // CHECK: tutti.reduce max %[[T]]
  %w = tutti.get @w : tensor<12x7xf32>
  %0 = tutti.tanh %x : tensor<?x3x4xf32, #tutti.sizes<batch>>
  %1 = tutti.reshape %0 : tensor<?x3x4xf32, #tutti.sizes<batch>> -> tensor<?x12xf32, #tutti.sizes<batch>>
  %2 = tutti.contract %1, %w "bk,kn->bn" : tensor<?x12xf32, #tutti.sizes<batch>>, tensor<12x7xf32>
  %3 = tutti.reduce max %0 [2] : tensor<?x3x4xf32, #tutti.sizes<batch>>
  return %2, %3 : tensor<?x7xf32, #tutti.sizes<batch>>, tensor<?x3x1xf32, #tutti.sizes<batch>>
}

// -----

// A column of categories is read where it lies, by each of the gathers that it is an index for.
tutti.param @t : tensor<9x4xf32>
tutti.param @u : tensor<9x1xf32>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0){{.*}} -> (d0, 1)>
// CHECK-LABEL: func.func @categories
// CHECK-SAME: (%[[I:.*]]: tensor<?x3xi64, #tutti.sizes<batch>>)
func.func @categories(%i: tensor<?x3xi64, #tutti.sizes<batch>>) -> tensor<?x5xf32, #tutti.sizes<batch>> {
  // CHECK-COUNT-2: tutti.map %[[I]] [#[[COLUMN]]] {{.*}} -> tensor<?xi64, #tutti.sizes<batch>>
  // CHECK-NOT: tutti.reshape
  // CHECK-COUNT-2: tutti.gather
  %t = tutti.get @t : tensor<9x4xf32>
  %u = tutti.get @u : tensor<9x1xf32>
  %0 = tutti.slice %i from [0, 1] size [-1, 1] step [1, 1] : tensor<?x3xi64, #tutti.sizes<batch>>
  %1 = tutti.reshape %0 : tensor<?x1xi64, #tutti.sizes<batch>> -> tensor<?xi64, #tutti.sizes<batch>>
  %2 = tutti.gather %t at %1 axis 0 : tensor<9x4xf32>, tensor<?xi64, #tutti.sizes<batch>>
  %3 = tutti.gather %u at %1 axis 0 : tensor<9x1xf32>, tensor<?xi64, #tutti.sizes<batch>>
  %4 = tutti.concat %2, %3 axis 1 : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  return %4 : tensor<?x5xf32, #tutti.sizes<batch>>
}

// -----

// On a CUDA device a layer reads the rows that are taken of a table as one, by a division; on a CPU they lie in memory.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1){{.*}} -> (d0, d1 floordiv 5, d1 mod 5)>
// CHECK-LABEL: module @device_table
module @device_table attributes {tutti.target = #tutti<target cuda>} {
  tutti.param @t : tensor<9x5xf32>
  tutti.param @w : tensor<15x7xf32>
  // CHECK-LABEL: func.func @table
  func.func @table(%i: tensor<?x3xi64, #tutti.sizes<batch>>) -> tensor<?x7xf32, #tutti.sizes<batch>> {
    // CHECK: %[[G:.*]] = tutti.gather
    // CHECK: %[[R:.*]] = tutti.map %[[G]] [#[[ROWS]]]
    // CHECK: tutti.contract %[[R]]
    %t = tutti.get @t : tensor<9x5xf32>
    %w = tutti.get @w : tensor<15x7xf32>
    %0 = tutti.gather %t at %i axis 0 : tensor<9x5xf32>, tensor<?x3xi64, #tutti.sizes<batch>>
    %1 = tutti.reshape %0 : tensor<?x3x5xf32, #tutti.sizes<batch>> -> tensor<?x15xf32, #tutti.sizes<batch>>
    %2 = tutti.contract %1, %w "bk,kn->bn" : tensor<?x15xf32, #tutti.sizes<batch>>, tensor<15x7xf32>
    return %2 : tensor<?x7xf32, #tutti.sizes<batch>>
  }
}

// -----

// There, what is computed of an input is computed when it is moved, too.
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d0, d2, d1)>
// CHECK-DAG: #[[OF_CHANNEL:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d2, 0)>
// CHECK-LABEL: module @device_pixels
module @device_pixels attributes {tutti.target = #tutti<target cuda>} {
  tutti.param @c : tensor<3x1xf32>
  tutti.param @w : tensor<3x7xf32>
  // CHECK-LABEL: func.func @scaled_channels
  // CHECK-SAME: (%[[X:.*]]: tensor<?x3x17xui8, #tutti.sizes<batch>>)
  func.func @scaled_channels(%x: tensor<?x3x17xui8, #tutti.sizes<batch>>) -> tensor<?x17x7xf32, #tutti.sizes<batch>> {
    // CHECK: %[[C:.*]] = tutti.get @c
    // CHECK: %[[F:.*]] = tutti.map %[[X]] [#[[TURNED]]] {{.*}} -> tensor<?x17x3xf32, #tutti.sizes<batch>>
    // CHECK: %[[S:.*]] = tutti.map %[[F]], %[[C]] [#{{.*}}, #[[OF_CHANNEL]]] {{.*}} -> tensor<?x17x3xf32, #tutti.sizes<batch>>
    // CHECK: tutti.contract %[[S]]
    %c = tutti.get @c : tensor<3x1xf32>
    %w = tutti.get @w : tensor<3x7xf32>
    %0 = tutti.cast %x : tensor<?x3x17xui8, #tutti.sizes<batch>> -> tensor<?x3x17xf32, #tutti.sizes<batch>>
    %1 = tutti.sub %0, %c : tensor<?x3x17xf32, #tutti.sizes<batch>>, tensor<3x1xf32>
    %2 = tutti.transpose %1 [0, 2, 1] : tensor<?x3x17xf32, #tutti.sizes<batch>>
    %3 = tutti.contract %2, %w "bsk,kn->bsn" : tensor<?x17x3xf32, #tutti.sizes<batch>>, tensor<3x7xf32>
    return %3 : tensor<?x17x7xf32, #tutti.sizes<batch>>
  }
}

// -----

// A transposition stays one, which a CPU does by squares in registers: a line of pixels is a view of what it makes.
// CHECK-DAG: #[[TURN:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d0, d2, d1)>
// CHECK-LABEL: func.func @lines
// CHECK-SAME: (%[[X:.*]]: tensor<?x64x32x32xf32, #tutti.sizes<batch>>)
func.func @lines(%x: tensor<?x64x32x32xf32, #tutti.sizes<batch>>) -> tensor<?x31x2048xf32, #tutti.sizes<batch>> {
  // CHECK: %[[V:.*]] = tutti.reshape %[[X]]
  // CHECK: %[[T:.*]] = tutti.map %[[V]] [#[[TURN]]] {{.*}} -> tensor<?x1024x64xf32, #tutti.sizes<batch>>
  // CHECK: %[[L:.*]] = tutti.reshape %[[T]] : {{.*}} -> tensor<?x32x2048xf32, #tutti.sizes<batch>>
  // CHECK: tutti.map %[[L]]
  %0 = tutti.transpose %x [0, 2, 3, 1] : tensor<?x64x32x32xf32, #tutti.sizes<batch>>
  %1 = tutti.reshape %0 : tensor<?x32x32x64xf32, #tutti.sizes<batch>> -> tensor<?x32x2048xf32, #tutti.sizes<batch>>
  %2 = tutti.slice %1 from [0, 1, 0] size [-1, 31, 2048] step [1, 1, 1] : tensor<?x32x2048xf32, #tutti.sizes<batch>>
  %3 = tutti.tanh %2 : tensor<?x31x2048xf32, #tutti.sizes<batch>>
  return %3 : tensor<?x31x2048xf32, #tutti.sizes<batch>>
}
