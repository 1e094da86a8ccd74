// RUN: env MALLOC_PERTURB_=165 tutti-opt %s --tutti-decompose --tutti-compose --split-input-file | FileCheck %s
// Layers, and what follows them, before or behind a move of their rows.

// Layers and what follows them row by row run before a move of rows or behind it, wherever it comes to stand beside another: here beside
// the heads' moves.
// CHECK-DAG: #[[HEADS:.*]] = affine_map<(d0, d1, d2, d3){{.*}} -> (d0, d2, d1 * 4 + d3)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3){{.*}} -> (d0, d2, d1, d3)>
// CHECK-LABEL: module @rows
module @rows {
  tutti.param @w : tensor<6x8xf32>
  tutti.param @v : tensor<8x6xf32>
  tutti.param @b : tensor<8xf32>
  tutti.param @c : tensor<6xf32>
  // CHECK-LABEL: func.func @before
  // CHECK-SAME: (%[[X:.*]]: tensor<?x9x6xf32, #tutti.sizes<batch>>)
  func.func @before(%x: tensor<?x9x6xf32, #tutti.sizes<batch>>) -> tensor<?x2x9x4xf32, #tutti.sizes<batch>> {
    // CHECK: %[[L:.*]] = tutti.contract %[[X]], %{{.*}} "bsk,kn->bsn"
    // CHECK: %[[B:.*]] = tutti.map %[[L]], %{{.*}} -> tensor<?x9x8xf32, #tutti.sizes<batch>>
    // CHECK: %[[Y:.*]] = tutti.map %[[B]] [#[[HEADS]]]
    // CHECK: return %[[Y]]
    %w = tutti.get @w : tensor<6x8xf32>
    %b = tutti.get @b : tensor<8xf32>
    %0 = tutti.transpose %x [1, 0, 2] : tensor<?x9x6xf32, #tutti.sizes<batch>>
    %1 = tutti.contract %0, %w "sbk,kn->sbn" : tensor<9x?x6xf32, #tutti.sizes<batch>>, tensor<6x8xf32>
    %2 = tutti.add %1, %b : tensor<9x?x8xf32, #tutti.sizes<batch>>, tensor<8xf32>
    %3 = tutti.reshape %2 : tensor<9x?x8xf32, #tutti.sizes<batch>> -> tensor<9x?x2x4xf32, #tutti.sizes<batch>>
    %4 = tutti.transpose %3 [1, 2, 0, 3] : tensor<9x?x2x4xf32, #tutti.sizes<batch>>
    return %4 : tensor<?x2x9x4xf32, #tutti.sizes<batch>>
  }
  // CHECK-LABEL: func.func @behind
  // CHECK-SAME: (%[[X:.*]]: tensor<?x2x9x4xf32, #tutti.sizes<batch>>, %[[Y:.*]]: tensor<?x9x6xf32, #tutti.sizes<batch>>)
  func.func @behind(%x: tensor<?x2x9x4xf32, #tutti.sizes<batch>>, %y: tensor<?x9x6xf32, #tutti.sizes<batch>>) -> tensor<?x9x6xf32, #tutti.sizes<batch>> {
    // CHECK: %[[M:.*]] = tutti.map %[[X]] [#[[ROWS]]]
    // CHECK: %[[R:.*]] = tutti.reshape %[[M]]
    // CHECK: %[[L:.*]] = tutti.contract %[[R]], %{{.*}} "bsk,kn->bsn"
    // CHECK: %[[C:.*]] = tutti.map %[[L]], %{{.*}} -> tensor<?x9x6xf32, #tutti.sizes<batch>>
    // CHECK: %[[S:.*]] = tutti.map %[[Y]], %[[C]] {{.*}} -> tensor<?x9x6xf32, #tutti.sizes<batch>>
    // CHECK: return %[[S]]
    %v = tutti.get @v : tensor<8x6xf32>
    %c = tutti.get @c : tensor<6xf32>
    %0 = tutti.transpose %x [2, 0, 1, 3] : tensor<?x2x9x4xf32, #tutti.sizes<batch>>
    %1 = tutti.reshape %0 : tensor<9x?x2x4xf32, #tutti.sizes<batch>> -> tensor<9x?x8xf32, #tutti.sizes<batch>>
    %2 = tutti.contract %1, %v "sbk,kn->sbn" : tensor<9x?x8xf32, #tutti.sizes<batch>>, tensor<8x6xf32>
    %3 = tutti.add %2, %c : tensor<9x?x6xf32, #tutti.sizes<batch>>, tensor<6xf32>
    %4 = tutti.transpose %3 [1, 0, 2] : tensor<9x?x6xf32, #tutti.sizes<batch>>
    %5 = tutti.add %y, %4 : tensor<?x9x6xf32, #tutti.sizes<batch>>, tensor<?x9x6xf32, #tutti.sizes<batch>>
    return %5 : tensor<?x9x6xf32, #tutti.sizes<batch>>
  }
  // Where no other move is met, an input is read by the layer in the order wanted.
  // CHECK-LABEL: func.func @input
  func.func @input(%x: tensor<?x9x6xf32, #tutti.sizes<batch>>) -> tensor<9x?x8xf32, #tutti.sizes<batch>> {
    // CHECK: %[[T:.*]] = tutti.map %{{.*}} -> tensor<9x?x6xf32, #tutti.sizes<batch>>
    // CHECK: tutti.contract %[[T]], %{{.*}} "sbk,kn->sbn"
    // CHECK-NEXT: return
    %w = tutti.get @w : tensor<6x8xf32>
    %0 = tutti.transpose %x [1, 0, 2] : tensor<?x9x6xf32, #tutti.sizes<batch>>
    %1 = tutti.contract %0, %w "sbk,kn->sbn" : tensor<9x?x6xf32, #tutti.sizes<batch>>, tensor<6x8xf32>
    return %1 : tensor<9x?x8xf32, #tutti.sizes<batch>>
  }
  // Behind a reshape that makes one axis of the rows, the two moves would stay two: the layer reads its rows where they are, as before.
  // CHECK-LABEL: func.func @one_axis
  func.func @one_axis(%x: tensor<?x9x6xf32, #tutti.sizes<batch>>) -> tensor<2x?x4xf32, #tutti.sizes<9*batch>> {
    // CHECK: %[[T:.*]] = tutti.map %{{.*}} -> tensor<9x?x6xf32, #tutti.sizes<batch>>
    // CHECK: tutti.contract %[[T]], %{{.*}} "sbk,kn->sbn"
    %w = tutti.get @w : tensor<6x8xf32>
    %0 = tutti.transpose %x [1, 0, 2] : tensor<?x9x6xf32, #tutti.sizes<batch>>
    %1 = tutti.contract %0, %w "sbk,kn->sbn" : tensor<9x?x6xf32, #tutti.sizes<batch>>, tensor<6x8xf32>
    %2 = tutti.reshape %1 : tensor<9x?x8xf32, #tutti.sizes<batch>> -> tensor<?x2x4xf32, #tutti.sizes<9*batch>>
    %3 = tutti.transpose %2 [1, 0, 2] : tensor<?x2x4xf32, #tutti.sizes<9*batch>>
    return %3 : tensor<2x?x4xf32, #tutti.sizes<9*batch>>
  }
  // A parameter of each row stays with its row: nothing is moved past it.
  tutti.param @p : tensor<9x1x8xf32>
  // CHECK-LABEL: func.func @by_row
  func.func @by_row(%x: tensor<?x9x6xf32, #tutti.sizes<batch>>) -> tensor<?x2x9x4xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.map %{{.*}} -> tensor<9x?x6xf32, #tutti.sizes<batch>>
    // CHECK: tutti.contract %{{.*}} "sbk,kn->sbn"
    // CHECK: tutti.map %{{.*}} -> tensor<9x?x8xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<6x8xf32>
    %p = tutti.get @p : tensor<9x1x8xf32>
    %0 = tutti.transpose %x [1, 0, 2] : tensor<?x9x6xf32, #tutti.sizes<batch>>
    %1 = tutti.contract %0, %w "sbk,kn->sbn" : tensor<9x?x6xf32, #tutti.sizes<batch>>, tensor<6x8xf32>
    %2 = tutti.add %1, %p : tensor<9x?x8xf32, #tutti.sizes<batch>>, tensor<9x1x8xf32>
    %3 = tutti.reshape %2 : tensor<9x?x8xf32, #tutti.sizes<batch>> -> tensor<9x?x2x4xf32, #tutti.sizes<batch>>
    %4 = tutti.transpose %3 [1, 2, 0, 3] : tensor<9x?x2x4xf32, #tutti.sizes<batch>>
    return %4 : tensor<?x2x9x4xf32, #tutti.sizes<batch>>
  }
}

// -----

// What is computed with channels in front is computed in the layer before them, the moves there and back are none, and the
// largest of each channel is found where channels lie side by side.
// CHECK-DAG: #[[OWN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2) -> (d2, 0)>
tutti.param @w : tensor<3x7xf32>
tutti.param @v : tensor<7x9xf32>
tutti.param @c : tensor<7x1xf32>
// CHECK-LABEL: func.func @pixels
// CHECK-SAME: (%[[X:.*]]: tensor<?x20x3xf32, #tutti.sizes<batch>>)
func.func @pixels(%x: tensor<?x20x3xf32, #tutti.sizes<batch>>) -> tensor<?x9x1xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<3x7xf32>
  %v = tutti.get @v : tensor<7x9xf32>
  %c = tutti.get @c : tensor<7x1xf32>
  // CHECK: %[[FIRST:.*]] = tutti.contract %[[X]]
  // CHECK: tutti.map %[[FIRST]], %{{.*}} [#[[OWN]], #[[CHANNEL]]]
  // CHECK-SAME: -> tensor<?x20x7xf32, #tutti.sizes<batch>>
  // CHECK: tutti.contract
  // CHECK-SAME: tensor<?x20x7xf32, #tutti.sizes<batch>>, tensor<7x9xf32>
  // CHECK: tutti.map
  // CHECK-SAME: -> tensor<?x20x9xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reduce max %{{.*}} [1] : tensor<?x20x9xf32, #tutti.sizes<batch>>
  // CHECK-NEXT: tutti.reshape
  // CHECK-NEXT: return
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<?x20x3xf32, #tutti.sizes<batch>>, tensor<3x7xf32>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x20x7xf32, #tutti.sizes<batch>>
  %2 = tutti.mul %1, %c : tensor<?x7x20xf32, #tutti.sizes<batch>>, tensor<7x1xf32>
  %3 = tutti.transpose %2 [0, 2, 1] : tensor<?x7x20xf32, #tutti.sizes<batch>>
  %4 = tutti.contract %3, %v "bsk,kn->bsn" : tensor<?x20x7xf32, #tutti.sizes<batch>>, tensor<7x9xf32>
  %5 = tutti.transpose %4 [0, 2, 1] : tensor<?x20x9xf32, #tutti.sizes<batch>>
  %6 = tutti.relu %5 : tensor<?x9x20xf32, #tutti.sizes<batch>>
  %7 = tutti.reduce max %6 [2] : tensor<?x9x20xf32, #tutti.sizes<batch>>
  return %7 : tensor<?x9x1xf32, #tutti.sizes<batch>>
}

// -----

// So is what several maps make of it that end in one: x * logistic(x); and a sum with what was turned likewise, though
// that is read elsewhere, too.
tutti.param @w : tensor<3x8xf32>
tutti.param @v : tensor<8x8xf32>
// CHECK-LABEL: func.func @residual_pixels
func.func @residual_pixels(%x: tensor<?x20x3xf32, #tutti.sizes<batch>>) -> (tensor<?x20x8xf32, #tutti.sizes<batch>>, tensor<?x8x20xf32, #tutti.sizes<batch>>) {
  // CHECK: %[[FIRST:.*]] = tutti.contract
  // CHECK: %[[LOGISTIC:.*]] = tutti.map %[[FIRST]] {{.*}} -> tensor<?x20x8xf32, #tutti.sizes<batch>>
  // CHECK: %[[SILU:.*]] = tutti.map %[[FIRST]], %[[LOGISTIC]] {{.*}} -> tensor<?x20x8xf32, #tutti.sizes<batch>>
  // CHECK: %[[TURNED:.*]] = tutti.map %[[SILU]] {{.*}} -> tensor<?x8x20xf32, #tutti.sizes<batch>>
  // CHECK: %[[SECOND:.*]] = tutti.contract %[[SILU]]
  // CHECK: %[[SUM:.*]] = tutti.map %[[SILU]], %[[SECOND]] {{.*}} -> tensor<?x20x8xf32, #tutti.sizes<batch>>
  // CHECK: return %[[SUM]], %[[TURNED]]
  %w = tutti.get @w : tensor<3x8xf32>
  %v = tutti.get @v : tensor<8x8xf32>
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<?x20x3xf32, #tutti.sizes<batch>>, tensor<3x8xf32>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x20x8xf32, #tutti.sizes<batch>>
  %2 = tutti.sigmoid %1 : tensor<?x8x20xf32, #tutti.sizes<batch>>
  %3 = tutti.mul %1, %2 : tensor<?x8x20xf32, #tutti.sizes<batch>>, tensor<?x8x20xf32, #tutti.sizes<batch>>
  %4 = tutti.transpose %3 [0, 2, 1] : tensor<?x8x20xf32, #tutti.sizes<batch>>
  %5 = tutti.contract %4, %v "bsk,kn->bsn" : tensor<?x20x8xf32, #tutti.sizes<batch>>, tensor<8x8xf32>
  %6 = tutti.transpose %5 [0, 2, 1] : tensor<?x20x8xf32, #tutti.sizes<batch>>
  %7 = tutti.add %3, %6 : tensor<?x8x20xf32, #tutti.sizes<batch>>, tensor<?x8x20xf32, #tutti.sizes<batch>>
  %8 = tutti.transpose %7 [0, 2, 1] : tensor<?x8x20xf32, #tutti.sizes<batch>>
  return %8, %3 : tensor<?x20x8xf32, #tutti.sizes<batch>>, tensor<?x8x20xf32, #tutti.sizes<batch>>
}

// -----

// Not what reads one of the maps elsewhere than at its own place.
tutti.param @w : tensor<3x8xf32>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0, 0, d1)>
// CHECK-LABEL: func.func @first_pixel
func.func @first_pixel(%x: tensor<?x20x3xf32, #tutti.sizes<batch>>) -> tensor<?x8x20xf32, #tutti.sizes<batch>> {
  // CHECK: %[[LOGISTIC:.*]] = tutti.map {{.*}} -> tensor<?x20x8xf32, #tutti.sizes<batch>>
  // CHECK: %[[ALL:.*]] = tutti.map %[[LOGISTIC]], %[[LOGISTIC]] [#[[TURNED]], #[[FIRST]]]
  // CHECK-SAME: -> tensor<?x8x20xf32, #tutti.sizes<batch>>
  // CHECK: return %[[ALL]]
  %w = tutti.get @w : tensor<3x8xf32>
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<?x20x3xf32, #tutti.sizes<batch>>, tensor<3x8xf32>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x20x8xf32, #tutti.sizes<batch>>
  %2 = tutti.sigmoid %1 : tensor<?x8x20xf32, #tutti.sizes<batch>>
  %3 = tutti.map %2, %2 [affine_map<(b, c, s) -> (b, c, s)>, affine_map<(b, c, s) -> (b, c, 0)>]
      : (tensor<?x8x20xf32, #tutti.sizes<batch>>, tensor<?x8x20xf32, #tutti.sizes<batch>>) -> tensor<?x8x20xf32, #tutti.sizes<batch>> {
  ^bb0(%a: f32, %first: f32):
    %4 = arith.mulf %a, %first : f32
    tutti.yield %4 : f32
  }
  return %3 : tensor<?x8x20xf32, #tutti.sizes<batch>>
}

// -----

// Channels of several layers, and some of one layer's, are put together where they lie side by side; and so is a sum with
// some of a layer's.
tutti.param @w : tensor<3x8xf32>
tutti.param @v : tensor<4x4xf32>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 + 4)>
// CHECK-LABEL: func.func @joined_channels
func.func @joined_channels(%x: tensor<?x20x3xf32, #tutti.sizes<batch>>) -> tensor<?x20x12xf32, #tutti.sizes<batch>> {
  // CHECK: %[[FIRST:.*]] = tutti.contract
  // CHECK: %[[PART:.*]] = tutti.map %[[FIRST]] {{.*}} -> tensor<?x20x4xf32, #tutti.sizes<batch>>
  // CHECK: %[[SECOND:.*]] = tutti.contract %[[PART]]
  // CHECK: %[[SUM:.*]] = tutti.map %[[SECOND]], %[[FIRST]] [#{{.*}}, #[[LAST]]]
  // CHECK: %[[ALL:.*]] = tutti.concat %[[FIRST]], %[[SUM]] axis 2
  // CHECK: return %[[ALL]]
  %w = tutti.get @w : tensor<3x8xf32>
  %v = tutti.get @v : tensor<4x4xf32>
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<?x20x3xf32, #tutti.sizes<batch>>, tensor<3x8xf32>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x20x8xf32, #tutti.sizes<batch>>
  %2 = tutti.slice %1 from [0, 4, 0] size [-1, 4, 20] step [1, 1, 1] : tensor<?x8x20xf32, #tutti.sizes<batch>>
  %3 = tutti.transpose %2 [0, 2, 1] : tensor<?x4x20xf32, #tutti.sizes<batch>>
  %4 = tutti.contract %3, %v "bsk,kn->bsn" : tensor<?x20x4xf32, #tutti.sizes<batch>>, tensor<4x4xf32>
  %5 = tutti.transpose %4 [0, 2, 1] : tensor<?x20x4xf32, #tutti.sizes<batch>>
  %6 = tutti.add %5, %2 : tensor<?x4x20xf32, #tutti.sizes<batch>>, tensor<?x4x20xf32, #tutti.sizes<batch>>
  %7 = tutti.concat %1, %6 axis 1 : tensor<?x8x20xf32, #tutti.sizes<batch>>, tensor<?x4x20xf32, #tutti.sizes<batch>>
  %8 = tutti.transpose %7 [0, 2, 1] : tensor<?x12x20xf32, #tutti.sizes<batch>>
  return %8 : tensor<?x20x12xf32, #tutti.sizes<batch>>
}

// -----

// The same of a batch of one, whose only place is 0.
tutti.param @w : tensor<3x7xf32>
tutti.param @c : tensor<7x1xf32>
// CHECK-LABEL: func.func @one_image
// CHECK: %[[FIRST:.*]] = tutti.contract
// CHECK: tutti.map %[[FIRST]], %{{.*}} -> tensor<1x20x7xf32>
// CHECK: tutti.reduce max %{{.*}} [1] : tensor<1x20x7xf32>
// CHECK-NEXT: tutti.reshape
// CHECK-NEXT: return
func.func @one_image(%x: tensor<1x20x3xf32>) -> tensor<1x7x1xf32> {
  %w = tutti.get @w : tensor<3x7xf32>
  %c = tutti.get @c : tensor<7x1xf32>
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<1x20x3xf32>, tensor<3x7xf32>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<1x20x7xf32>
  %2 = tutti.mul %1, %c : tensor<1x7x20xf32>, tensor<7x1xf32>
  %3 = tutti.reduce max %2 [2] : tensor<1x7x20xf32>
  return %3 : tensor<1x7x1xf32>
}

// -----

// Of pixels that a slice leaves out, none is the largest: it is found behind the move, which is no mere transposition.
tutti.param @w : tensor<3x7xf32>
// CHECK-LABEL: func.func @some_pixels
func.func @some_pixels(%x: tensor<?x20x3xf32, #tutti.sizes<batch>>) -> tensor<?x7x1xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<3x7xf32>
  // CHECK: tutti.reduce max %{{.*}} [2] : tensor<?x7x12xf32, #tutti.sizes<batch>>
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<?x20x3xf32, #tutti.sizes<batch>>, tensor<3x7xf32>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x20x7xf32, #tutti.sizes<batch>>
  %2 = tutti.slice %1 from [0, 0, 0] size [-1, 7, 12] step [1, 1, 1] : tensor<?x7x20xf32, #tutti.sizes<batch>>
  %3 = tutti.reduce max %2 [2] : tensor<?x7x12xf32, #tutti.sizes<batch>>
  return %3 : tensor<?x7x1xf32, #tutti.sizes<batch>>
}

// -----

// Nor do layers go before a move that leaves rows out.
tutti.param @w : tensor<3x7xf32>
// CHECK-LABEL: func.func @layer_of_some_rows
func.func @layer_of_some_rows(%x: tensor<6x?x3xf32, #tutti.sizes<batch>>) -> tensor<4x?x7xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<3x7xf32>
  // CHECK: tutti.contract {{.*}} : tensor<4x?x3xf32, #tutti.sizes<batch>>, tensor<3x7xf32>
  %0 = tutti.transpose %x [1, 0, 2] : tensor<6x?x3xf32, #tutti.sizes<batch>>
  %1 = tutti.slice %0 from [0, 0, 0] size [-1, 4, 3] step [1, 1, 1] : tensor<?x6x3xf32, #tutti.sizes<batch>>
  %2 = tutti.contract %1, %w "bsk,kn->bsn" : tensor<?x4x3xf32, #tutti.sizes<batch>>, tensor<3x7xf32>
  %3 = tutti.transpose %2 [1, 0, 2] : tensor<?x4x7xf32, #tutti.sizes<batch>>
  return %3 : tensor<4x?x7xf32, #tutti.sizes<batch>>
}

// -----

// A mean stays where it is: the order of its sum decides bits.
tutti.param @w : tensor<3x7xf32>
// CHECK-LABEL: func.func @mean_of_pixels
func.func @mean_of_pixels(%x: tensor<?x20x3xf32, #tutti.sizes<batch>>) -> tensor<?x7x1xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<3x7xf32>
  // CHECK: tutti.reduce mean %{{.*}} [2] : tensor<?x7x20xf32, #tutti.sizes<batch>>
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<?x20x3xf32, #tutti.sizes<batch>>, tensor<3x7xf32>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x20x7xf32, #tutti.sizes<batch>>
  %2 = tutti.reduce mean %1 [2] : tensor<?x7x20xf32, #tutti.sizes<batch>>
  return %2 : tensor<?x7x1xf32, #tutti.sizes<batch>>
}

// -----

// What else is computed of these channels is computed before they are turned for it: a channel times what its mean says of it.
tutti.param @w : tensor<3x16xf32>
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[GATE:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, 0)>
// CHECK-LABEL: func.func @gated_pixels
func.func @gated_pixels(%x: tensor<?x20x3xf32, #tutti.sizes<batch>>) -> tensor<?x16x20xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<3x16xf32>
  // CHECK: %[[SUM:.*]] = tutti.contract
  // CHECK: %[[GATES:.*]] = tutti.reduce mean
  // CHECK: tutti.map %[[SUM]], %[[GATES]] [#[[PLACE]], #[[GATE]]]
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.mulf
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<?x20x3xf32, #tutti.sizes<batch>>, tensor<3x16xf32>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x20x16xf32, #tutti.sizes<batch>>
  %2 = tutti.reduce mean %1 [2] : tensor<?x16x20xf32, #tutti.sizes<batch>>
  %3 = tutti.mul %1, %2 : tensor<?x16x20xf32, #tutti.sizes<batch>>, tensor<?x16x1xf32, #tutti.sizes<batch>>
  return %3 : tensor<?x16x20xf32, #tutti.sizes<batch>>
}

// -----

// A pool of channels that lie side by side goes along them, and what is left is turned.
// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<?x8x8x16xf32, #tutti.sizes<batch>>) -> tensor<?x16x4x4xf32, #tutti.sizes<batch>> {
  // CHECK: %[[FIRST:.*]] = tutti.map %arg0, %arg0 {{.*}} -> tensor<?x4x4x16xf32, #tutti.sizes<batch>>
  // CHECK: %[[SECOND:.*]] = tutti.map %[[FIRST]], %arg0 {{.*}} -> tensor<?x4x4x16xf32, #tutti.sizes<batch>>
  // CHECK: %[[JOINED:.*]] = tutti.reshape %[[SECOND]] {{.*}} -> tensor<?x16x16xf32, #tutti.sizes<batch>>
  // CHECK: tutti.map %[[JOINED]] {{.*}} -> tensor<?x16x16xf32, #tutti.sizes<batch>>
  %0 = tutti.transpose %x [0, 3, 1, 2] : tensor<?x8x8x16xf32, #tutti.sizes<batch>>
  %1 = tutti.slice %0 from [0, 0, 0, 0] size [-1, 16, 4, 4] step [1, 1, 2, 2] : tensor<?x16x8x8xf32, #tutti.sizes<batch>>
  %2 = tutti.slice %0 from [0, 0, 0, 1] size [-1, 16, 4, 4] step [1, 1, 2, 2] : tensor<?x16x8x8xf32, #tutti.sizes<batch>>
  %3 = tutti.slice %0 from [0, 0, 1, 0] size [-1, 16, 4, 4] step [1, 1, 2, 2] : tensor<?x16x8x8xf32, #tutti.sizes<batch>>
  %4 = tutti.max %1, %2 : tensor<?x16x4x4xf32, #tutti.sizes<batch>>, tensor<?x16x4x4xf32, #tutti.sizes<batch>>
  %5 = tutti.max %4, %3 : tensor<?x16x4x4xf32, #tutti.sizes<batch>>, tensor<?x16x4x4xf32, #tutti.sizes<batch>>
  return %5 : tensor<?x16x4x4xf32, #tutti.sizes<batch>>
}

// -----

// What is computed of sums over windows is computed before the move that turns their columns, as a layer's is.
// CHECK-LABEL: func.func @window_sums
func.func @window_sums(%x: tensor<?x6x8xf32, #tutti.sizes<batch>>) -> tensor<?x8x5xf32, #tutti.sizes<batch>> {
  // CHECK: %[[SUM:.*]] = tutti.map %{{.*}}, %{{.*}} -> tensor<?x5x8xf32, #tutti.sizes<batch>>
  // CHECK: %[[RELU:.*]] = tutti.map %[[SUM]] {{.*}} -> tensor<?x5x8xf32, #tutti.sizes<batch>>
  // CHECK: arith.maximumf
  // CHECK: %[[MOVED:.*]] = tutti.map %[[RELU]] {{.*}} -> tensor<?x8x5xf32, #tutti.sizes<batch>>
  // CHECK-NEXT: ^bb0(%[[ONE:.*]]: f32):
  // CHECK-NEXT: tutti.yield %[[ONE]]
  %0 = tutti.slice %x from [0, 0, 0] size [-1, 5, 8] step [1, 1, 1] : tensor<?x6x8xf32, #tutti.sizes<batch>>
  %1 = tutti.slice %x from [0, 1, 0] size [-1, 5, 8] step [1, 1, 1] : tensor<?x6x8xf32, #tutti.sizes<batch>>
  %2 = tutti.add %0, %1 : tensor<?x5x8xf32, #tutti.sizes<batch>>, tensor<?x5x8xf32, #tutti.sizes<batch>>
  %3 = tutti.transpose %2 [0, 2, 1] : tensor<?x5x8xf32, #tutti.sizes<batch>>
  %4 = tutti.relu %3 : tensor<?x8x5xf32, #tutti.sizes<batch>>
  return %4 : tensor<?x8x5xf32, #tutti.sizes<batch>>
}

// -----

// Not where the move drops rows, of which the other operand has no more: rows that are repeated make up for them.
// CHECK-LABEL: func.func @rows_are_dropped
func.func @rows_are_dropped(%x: tensor<?x64x8xf32, #tutti.sizes<batch>>, %w: tensor<8x4xf32>, %p: tensor<2x1xf32>) -> tensor<?x4x2x32xf32, #tutti.sizes<batch>> {
  // CHECK: arith.addf
  // CHECK-NEXT: tutti.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %0 = tutti.contract %x, %w "bak,kn->ban" : tensor<?x64x8xf32, #tutti.sizes<batch>>, tensor<8x4xf32>
  %1 = tutti.slice %0 from [0, 0, 0] size [-1, 2, -1] step [1, 1, 1] : tensor<?x64x4xf32, #tutti.sizes<batch>>
  %2 = tutti.transpose %1 [0, 2, 1] : tensor<?x2x4xf32, #tutti.sizes<batch>>
  %3 = tutti.reshape %2 : tensor<?x4x2xf32, #tutti.sizes<batch>> -> tensor<?x4x2x1xf32, #tutti.sizes<batch>>
  %4 = tutti.broadcast %3 : tensor<?x4x2x1xf32, #tutti.sizes<batch>> -> tensor<?x4x2x32xf32, #tutti.sizes<batch>>
  %5 = tutti.add %4, %p : tensor<?x4x2x32xf32, #tutti.sizes<batch>>, tensor<2x1xf32>
  return %5 : tensor<?x4x2x32xf32, #tutti.sizes<batch>>
}

// -----

// A chain of any length behind a pool of channels that lie side by side goes along them, each op after the one before.
// CHECK-LABEL: func.func @chain_behind_a_pool
func.func @chain_behind_a_pool(%x: tensor<?x8x8x16xf32, #tutti.sizes<batch>>) -> tensor<?x16x4x8xf32, #tutti.sizes<batch>> {
  // CHECK-COUNT-17: tensor<?x4x8x16xf32, #tutti.sizes<batch>>
  // CHECK: return
  %0 = tutti.transpose %x [0, 3, 1, 2] : tensor<?x8x8x16xf32, #tutti.sizes<batch>>
  %1 = tutti.slice %0 from [0, 0, 0, 0] size [-1, 16, 4, 8] step [1, 1, 2, 1] : tensor<?x16x8x8xf32, #tutti.sizes<batch>>
  %2 = tutti.slice %0 from [0, 0, 1, 0] size [-1, 16, 4, 8] step [1, 1, 2, 1] : tensor<?x16x8x8xf32, #tutti.sizes<batch>>
  %3 = tutti.max %1, %2 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>, tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %4 = tutti.exp %3 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %5 = tutti.tanh %4 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %6 = tutti.relu %5 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %7 = tutti.sigmoid %6 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %8 = tutti.exp %7 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %9 = tutti.tanh %8 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %10 = tutti.relu %9 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %11 = tutti.sigmoid %10 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %12 = tutti.exp %11 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %13 = tutti.tanh %12 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %14 = tutti.relu %13 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %15 = tutti.sigmoid %14 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %16 = tutti.exp %15 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %17 = tutti.tanh %16 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %18 = tutti.relu %17 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  %19 = tutti.sigmoid %18 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
  return %19 : tensor<?x16x4x8xf32, #tutti.sizes<batch>>
}

// -----

// A row's only column is computed where the row is.
// CHECK-LABEL: func.func @only_column
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>} {
  func.func @only_column(%x: tensor<?x1x16xf32, #tutti.sizes<active>>, %t: tensor<?x1x1xf32, #tutti.sizes<active>>) -> tensor<?x1x16xf32, #tutti.sizes<active>> {
    // CHECK: %[[E:.*]] = tutti.map
    // CHECK: tutti.map %{{.*}}, %[[E]]
    %0 = tutti.exp %t : tensor<?x1x1xf32, #tutti.sizes<active>>
    %1 = tutti.add %x, %0 : tensor<?x1x16xf32, #tutti.sizes<active>>, tensor<?x1x1xf32, #tutti.sizes<active>>
    return %1 : tensor<?x1x16xf32, #tutti.sizes<active>>
  }
}
