// RUN: env MALLOC_PERTURB_=165 tutti-opt %s --tutti-decompose --tutti-compose --split-input-file | FileCheck %s

// Heads of attention as PyTorch writes them: cut, split, with batch and heads in one axis while they are transposed.
// All of it is one move whose place needs no division.
// CHECK-DAG: #[[HEADS:.*]] = affine_map<(d0, d1, d2, d3){{.*}} -> (d2, d0, d1 * 16 + d3 + 64)>
// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%[[X:.*]]: tensor<12x?x192xf32, #tutti.sizes<batch>>)
func.func @heads(%x: tensor<12x?x192xf32, #tutti.sizes<batch>>) -> tensor<?x4x12x16xf32, #tutti.sizes<batch>> {
  // CHECK-NEXT: %[[Y:.*]] = tutti.map %[[X]] [#[[HEADS]]]
  // CHECK-NOT: tutti.reshape
  // CHECK-NOT: tutti.map
  // CHECK: return %[[Y]] : tensor<?x4x12x16xf32, #tutti.sizes<batch>>
  %0 = tutti.reshape %x : tensor<12x?x192xf32, #tutti.sizes<batch>> -> tensor<1x12x?x3x64xf32, #tutti.sizes<batch>>
  %1 = tutti.transpose %0 [3, 1, 2, 0, 4] : tensor<1x12x?x3x64xf32, #tutti.sizes<batch>>
  %2 = tutti.reshape %1 : tensor<3x12x?x1x64xf32, #tutti.sizes<batch>> -> tensor<3x12x?x64xf32, #tutti.sizes<batch>>
  %3 = tutti.slice %2 from [1, 0, 0, 0] size [1, 12, -1, 64] step [1, 1, 1, 1] : tensor<3x12x?x64xf32, #tutti.sizes<batch>>
  %4 = tutti.reshape %3 : tensor<1x12x?x64xf32, #tutti.sizes<batch>> -> tensor<12x?x16xf32, #tutti.sizes<4*batch>>
  %5 = tutti.transpose %4 [1, 0, 2] : tensor<12x?x16xf32, #tutti.sizes<4*batch>>
  %6 = tutti.reshape %5 : tensor<?x12x16xf32, #tutti.sizes<4*batch>> -> tensor<?x4x12x16xf32, #tutti.sizes<batch>>
  return %6 : tensor<?x4x12x16xf32, #tutti.sizes<batch>>
}

// -----

// What is computed of a value that was moved reads it where it was.
// CHECK-DAG: #[[OWN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d0, d2, d1)>
// CHECK-LABEL: func.func @computed
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x6xf32, #tutti.sizes<batch>>, %[[Y:.*]]: tensor<?x6x4xf32, #tutti.sizes<batch>>)
func.func @computed(%x: tensor<?x4x6xf32, #tutti.sizes<batch>>, %y: tensor<?x6x4xf32, #tutti.sizes<batch>>) -> tensor<?x6x4xf32, #tutti.sizes<batch>> {
  // CHECK-NEXT: tutti.map %[[X]], %[[Y]] [#[[TURNED]], #[[OWN]]]
  // CHECK-NOT: tutti.map
  %0 = tutti.transpose %x [0, 2, 1] : tensor<?x4x6xf32, #tutti.sizes<batch>>
  %1 = tutti.add %0, %y : tensor<?x6x4xf32, #tutti.sizes<batch>>, tensor<?x6x4xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x6x4xf32, #tutti.sizes<batch>>
}

// -----

// Heads that become one axis again would need divisions for every element: the reshape stays a view.
// CHECK-LABEL: func.func @merged
func.func @merged(%x: tensor<?x4x12x16xf32, #tutti.sizes<batch>>) -> tensor<?x12x64xf32, #tutti.sizes<batch>> {
  // CHECK: %[[T:.*]] = tutti.map %{{.*}} -> tensor<?x12x4x16xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reshape %[[T]]
  %0 = tutti.transpose %x [0, 2, 1, 3] : tensor<?x4x12x16xf32, #tutti.sizes<batch>>
  %1 = tutti.reshape %0 : tensor<?x12x4x16xf32, #tutti.sizes<batch>> -> tensor<?x12x64xf32, #tutti.sizes<batch>>
  %2 = tutti.neg %1 : tensor<?x12x64xf32, #tutti.sizes<batch>>
  return %2 : tensor<?x12x64xf32, #tutti.sizes<batch>>
}

// -----

// A slice of each row is computed where the row is: its reshape stays behind that kernel.
// CHECK-LABEL: func.func @in_kernel
func.func @in_kernel(%x: tensor<?x7xf32, #tutti.sizes<batch>>) -> tensor<?xf32, #tutti.sizes<batch>> {
  // CHECK: %[[E:.*]] = tutti.map %{{.*}} -> tensor<?x7xf32, #tutti.sizes<batch>>
  // CHECK: %[[S:.*]] = tutti.map %[[E]] {{.*}} -> tensor<?x1xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reshape %[[S]]
  %0 = tutti.exp %x : tensor<?x7xf32, #tutti.sizes<batch>>
  %1 = tutti.slice %0 from [0, 2] size [-1, 1] step [1, 1] : tensor<?x7xf32, #tutti.sizes<batch>>
  %2 = tutti.reshape %1 : tensor<?x1xf32, #tutti.sizes<batch>> -> tensor<?xf32, #tutti.sizes<batch>>
  return %2 : tensor<?xf32, #tutti.sizes<batch>>
}

// -----

// Transposed values are multiplied as they lie, where either columns or terms are neighbours.
// CHECK-LABEL: module @products
module @products {
  // CHECK-LABEL: func.func @scores
  // CHECK-SAME: (%[[Q:.*]]: tensor<?x9x2x8xf32, #tutti.sizes<batch>>)
  func.func @scores(%q: tensor<?x9x2x8xf32, #tutti.sizes<batch>>) -> tensor<?x2x9x9xf32, #tutti.sizes<batch>> {
    // CHECK-NEXT: tutti.contract %[[Q]], %[[Q]] "bshk,bthk->bhst"
    // CHECK-NOT: tutti.map
    %0 = tutti.transpose %q [0, 2, 1, 3] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %1 = tutti.transpose %q [0, 2, 3, 1] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %2 = tutti.contract %0, %1 "bhsk,bhkt->bhst" : tensor<?x2x9x8xf32, #tutti.sizes<batch>>, tensor<?x2x8x9xf32, #tutti.sizes<batch>>
    return %2 : tensor<?x2x9x9xf32, #tutti.sizes<batch>>
  }
  // Heads that are part of an axis are split where they lie, by a view.
  // CHECK-LABEL: func.func @split
  // CHECK-SAME: (%[[Q:.*]]: tensor<?x9x16xf32, #tutti.sizes<batch>>)
  func.func @split(%q: tensor<?x9x16xf32, #tutti.sizes<batch>>) -> tensor<?x2x9x9xf32, #tutti.sizes<batch>> {
    // CHECK-NOT: tutti.map
    // CHECK: tutti.contract %{{.*}}, %{{.*}} "bshk,bthk->bhst" : tensor<?x9x2x8xf32, #tutti.sizes<batch>>, tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    // CHECK-NOT: tutti.map
    %0 = tutti.reshape %q : tensor<?x9x16xf32, #tutti.sizes<batch>> -> tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %1 = tutti.transpose %0 [0, 2, 1, 3] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %2 = tutti.transpose %0 [0, 2, 3, 1] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %3 = tutti.contract %1, %2 "bhsk,bhkt->bhst" : tensor<?x2x9x8xf32, #tutti.sizes<batch>>, tensor<?x2x8x9xf32, #tutti.sizes<batch>>
    return %3 : tensor<?x2x9x9xf32, #tutti.sizes<batch>>
  }
  // What is computed for a product lies as what it reads, in the rows of that.
  // CHECK-LABEL: func.func @scaled
  // CHECK-SAME: (%[[Q:.*]]: tensor<?x2x9x8xf32, #tutti.sizes<batch>>, %[[K:.*]]: tensor<?x9x2x8xf32, #tutti.sizes<batch>>)
  func.func @scaled(%q: tensor<?x2x9x8xf32, #tutti.sizes<batch>>, %k: tensor<?x9x2x8xf32, #tutti.sizes<batch>>) -> tensor<?x2x9x9xf32, #tutti.sizes<batch>> {
    // CHECK: %[[S:.*]] = tutti.map %[[K]] {{.*}} -> tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    // CHECK: tutti.contract %[[Q]], %[[S]] "bhsk,bthk->bhst"
    %0 = tutti.transpose %k [0, 2, 3, 1] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %1 = tutti.constant dense<0.5> : tensor<f32>
    %2 = tutti.mul %0, %1 : tensor<?x2x8x9xf32, #tutti.sizes<batch>>, tensor<f32>
    %3 = tutti.contract %q, %2 "bhsk,bhkt->bhst" : tensor<?x2x9x8xf32, #tutti.sizes<batch>>, tensor<?x2x8x9xf32, #tutti.sizes<batch>>
    return %3 : tensor<?x2x9x9xf32, #tutti.sizes<batch>>
  }
  // Of a layer's columns, some are queries and some keys: both are parts of the layer's own rows, and heads a view of them.
  // CHECK-LABEL: func.func @parts
  // CHECK-SAME: (%[[X:.*]]: tensor<?x9x48xf32, #tutti.sizes<batch>>)
  func.func @parts(%x: tensor<?x9x48xf32, #tutti.sizes<batch>>) -> tensor<?x2x9x9xf32, #tutti.sizes<batch>> {
    // CHECK: %[[Q:.*]] = tutti.map %[[X]] {{.*}} -> tensor<?x9x16xf32, #tutti.sizes<batch>>
    // CHECK: %[[K:.*]] = tutti.map %[[X]] {{.*}} -> tensor<?x9x16xf32, #tutti.sizes<batch>>
    // CHECK: %[[QH:.*]] = tutti.reshape %[[Q]]
    // CHECK: %[[KH:.*]] = tutti.reshape %[[K]]
    // CHECK: tutti.contract %[[QH]], %[[KH]] "bshk,bthk->bhst"
    %0 = tutti.slice %x from [0, 0, 0] size [-1, 9, 16] step [1, 1, 1] : tensor<?x9x48xf32, #tutti.sizes<batch>>
    %1 = tutti.slice %x from [0, 0, 16] size [-1, 9, 16] step [1, 1, 1] : tensor<?x9x48xf32, #tutti.sizes<batch>>
    %2 = tutti.reshape %0 : tensor<?x9x16xf32, #tutti.sizes<batch>> -> tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %3 = tutti.reshape %1 : tensor<?x9x16xf32, #tutti.sizes<batch>> -> tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %4 = tutti.transpose %2 [0, 2, 1, 3] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %5 = tutti.transpose %3 [0, 2, 3, 1] : tensor<?x9x2x8xf32, #tutti.sizes<batch>>
    %6 = tutti.contract %4, %5 "bhsk,bhkt->bhst" : tensor<?x2x9x8xf32, #tutti.sizes<batch>>, tensor<?x2x8x9xf32, #tutti.sizes<batch>>
    return %6 : tensor<?x2x9x9xf32, #tutti.sizes<batch>>
  }
  // Where the layer has other rows than the heads, as of a flat batch, that would be no part of it: heads are moved
  // as heads.
  // CHECK-LABEL: func.func @parts_of_flat_rows
  // CHECK-SAME: (%[[X:.*]]: tensor<27x48xf32>)
  func.func @parts_of_flat_rows(%x: tensor<27x48xf32>) -> tensor<3x2x9x9xf32> {
    // CHECK: %[[Q:.*]] = tutti.map %[[X]] {{.*}} -> tensor<3x9x2x8xf32>
    // CHECK: %[[K:.*]] = tutti.map %[[X]] {{.*}} -> tensor<3x9x2x8xf32>
    // CHECK: tutti.contract %[[Q]], %[[K]] "bshk,bthk->bhst"
    %0 = tutti.reshape %x : tensor<27x48xf32> -> tensor<3x9x48xf32>
    %1 = tutti.slice %0 from [0, 0, 0] size [3, 9, 16] step [1, 1, 1] : tensor<3x9x48xf32>
    %2 = tutti.slice %0 from [0, 0, 16] size [3, 9, 16] step [1, 1, 1] : tensor<3x9x48xf32>
    %3 = tutti.reshape %1 : tensor<3x9x16xf32> -> tensor<3x9x2x8xf32>
    %4 = tutti.reshape %2 : tensor<3x9x16xf32> -> tensor<3x9x2x8xf32>
    %5 = tutti.transpose %3 [0, 2, 1, 3] : tensor<3x9x2x8xf32>
    %6 = tutti.transpose %4 [0, 2, 3, 1] : tensor<3x9x2x8xf32>
    %7 = tutti.contract %5, %6 "bhsk,bhkt->bhst" : tensor<3x2x9x8xf32>, tensor<3x2x8x9xf32>
    return %7 : tensor<3x2x9x9xf32>
  }
  // An axis of one place changes nothing: the left operand is computed where it is.
  // CHECK-LABEL: func.func @alone
  func.func @alone(%p: tensor<1x2x9x9xf32>, %v: tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32> {
    // CHECK: %[[E:.*]] = tutti.map %{{.*}} -> tensor<1x2x9x9xf32>
    // CHECK: tutti.contract %[[E]], %{{.*}} "bhst,bhtd->bhsd"
    %0 = tutti.exp %p : tensor<1x2x9x9xf32>
    %1 = tutti.contract %0, %v "bhst,bhtd->bhsd" : tensor<1x2x9x9xf32>, tensor<1x2x9x8xf32>
    return %1 : tensor<1x2x9x8xf32>
  }
  // Rows that read the same columns come to lie side by side.
  // CHECK-LABEL: func.func @experts
  func.func @experts(%x: tensor<?x3x8xf32, #tutti.sizes<batch>>, %w: tensor<3x8x5xf32>) -> tensor<?x3x5xf32, #tutti.sizes<batch>> {
    // CHECK: %[[Y:.*]] = tutti.contract %{{.*}}, %{{.*}} "bhk,hkn->hbn"
    // CHECK: tutti.map %[[Y]] {{.*}} -> tensor<?x3x5xf32, #tutti.sizes<batch>>
    %0 = tutti.contract %x, %w "bhk,hkn->bhn" : tensor<?x3x8xf32, #tutti.sizes<batch>>, tensor<3x8x5xf32>
    return %0 : tensor<?x3x5xf32, #tutti.sizes<batch>>
  }
  // CHECK-LABEL: func.func @neither
  func.func @neither(%x: tensor<?x9x8xf32, #tutti.sizes<batch>>, %y: tensor<?x8x5x2xf32, #tutti.sizes<batch>>) -> tensor<?x2x9x5xf32, #tutti.sizes<batch>> {
    // CHECK: %[[T:.*]] = tutti.map
    // CHECK: tutti.contract %{{.*}}, %[[T]] "bsk,bhkt->bhst"
    %0 = tutti.transpose %y [0, 3, 1, 2] : tensor<?x8x5x2xf32, #tutti.sizes<batch>>
    %1 = tutti.contract %x, %0 "bsk,bhkt->bhst" : tensor<?x9x8xf32, #tutti.sizes<batch>>, tensor<?x2x8x5xf32, #tutti.sizes<batch>>
    return %1 : tensor<?x2x9x5xf32, #tutti.sizes<batch>>
  }
}

// -----

// A reshape sinks below what only parameters are added to or multiplied with, which are read by the axes of before: of a norm's groups of
// channels, say. On a CPU the runs of columns that read one number must be long; a CUDA device divides.
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d1 * 3 + d2 floordiv 64, 0)>
// CHECK-LABEL: module @parameters
module @parameters {
  tutti.param @w : tensor<6x1xf32>
  // CHECK-LABEL: func.func @long
  func.func @long(%x: tensor<?x2x192xf32, #tutti.sizes<batch>>) -> tensor<?x6x64xf32, #tutti.sizes<batch>> {
    // CHECK: %[[W:.*]] = tutti.get
    // CHECK: %[[T:.*]] = tutti.map %{{.*}} -> tensor<?x2x192xf32, #tutti.sizes<batch>>
    // CHECK: %[[Y:.*]] = tutti.map %[[T]], %[[W]] [#{{.*}}, #[[PLACE]]] {{.*}} -> tensor<?x2x192xf32, #tutti.sizes<batch>>
    // CHECK: %[[V:.*]] = tutti.reshape %[[Y]]
    // CHECK: return %[[V]]
    %w = tutti.get @w : tensor<6x1xf32>
    %0 = tutti.tanh %x : tensor<?x2x192xf32, #tutti.sizes<batch>>
    %1 = tutti.reshape %0 : tensor<?x2x192xf32, #tutti.sizes<batch>> -> tensor<?x6x64xf32, #tutti.sizes<batch>>
    %2 = tutti.mul %1, %w : tensor<?x6x64xf32, #tutti.sizes<batch>>, tensor<6x1xf32>
    return %2 : tensor<?x6x64xf32, #tutti.sizes<batch>>
  }
  // CHECK-LABEL: func.func @short
  func.func @short(%x: tensor<?x2x96xf32, #tutti.sizes<batch>>) -> tensor<?x6x32xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.map %{{.*}} -> tensor<?x2x96xf32, #tutti.sizes<batch>>
    // CHECK: %[[V:.*]] = tutti.reshape
    // CHECK: tutti.map %[[V]], %{{.*}} -> tensor<?x6x32xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<6x1xf32>
    %0 = tutti.reduce max %x [2] : tensor<?x2x96xf32, #tutti.sizes<batch>>
    %1 = tutti.sub %x, %0 : tensor<?x2x96xf32, #tutti.sizes<batch>>, tensor<?x2x1xf32, #tutti.sizes<batch>>
    %2 = tutti.reshape %1 : tensor<?x2x96xf32, #tutti.sizes<batch>> -> tensor<?x6x32xf32, #tutti.sizes<batch>>
    %3 = tutti.mul %2, %w : tensor<?x6x32xf32, #tutti.sizes<batch>>, tensor<6x1xf32>
    return %3 : tensor<?x6x32xf32, #tutti.sizes<batch>>
  }
  // What somebody else reads, too, stays where it is.
  // CHECK-LABEL: func.func @read_twice
  func.func @read_twice(%x: tensor<?x2x192xf32, #tutti.sizes<batch>>) -> (tensor<?x6x64xf32, #tutti.sizes<batch>>, tensor<?x6x64xf32, #tutti.sizes<batch>>) {
    // CHECK: %[[V:.*]] = tutti.reshape
    // CHECK: tutti.map %[[V]], %{{.*}} -> tensor<?x6x64xf32, #tutti.sizes<batch>>
    %w = tutti.get @w : tensor<6x1xf32>
    %0 = tutti.tanh %x : tensor<?x2x192xf32, #tutti.sizes<batch>>
    %1 = tutti.reshape %0 : tensor<?x2x192xf32, #tutti.sizes<batch>> -> tensor<?x6x64xf32, #tutti.sizes<batch>>
    %2 = tutti.mul %1, %w : tensor<?x6x64xf32, #tutti.sizes<batch>>, tensor<6x1xf32>
    return %1, %2 : tensor<?x6x64xf32, #tutti.sizes<batch>>, tensor<?x6x64xf32, #tutti.sizes<batch>>
  }
}

// -----

// CHECK-LABEL: module @device
module @device attributes {tutti.target = #tutti<target cuda>} {
  tutti.param @w : tensor<6x1xf32>
  // CHECK-LABEL: func.func @short
  func.func @short(%x: tensor<?x2x96xf32, #tutti.sizes<batch>>) -> tensor<?x6x32xf32, #tutti.sizes<batch>> {
    // CHECK: tutti.map %{{.*}}, %{{.*}} -> tensor<?x2x96xf32, #tutti.sizes<batch>>
    // CHECK: tutti.reshape
    // CHECK-NEXT: return
    %w = tutti.get @w : tensor<6x1xf32>
    %0 = tutti.tanh %x : tensor<?x2x96xf32, #tutti.sizes<batch>>
    %1 = tutti.reshape %0 : tensor<?x2x96xf32, #tutti.sizes<batch>> -> tensor<?x6x32xf32, #tutti.sizes<batch>>
    %2 = tutti.mul %1, %w : tensor<?x6x32xf32, #tutti.sizes<batch>>, tensor<6x1xf32>
    return %2 : tensor<?x6x32xf32, #tutti.sizes<batch>>
  }
}

// -----

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

// A map of a part of what was reshaped stays behind the reshape.
// CHECK-LABEL: func.func @part_of_a_reshape
func.func @part_of_a_reshape(%x: tensor<?x6x16xf32, #tutti.sizes<batch>>) -> tensor<?x2x32xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.reshape {{.*}} -> tensor<?x3x32xf32, #tutti.sizes<batch>>
  // CHECK-NEXT: tutti.map {{.*}} -> tensor<?x2x32xf32, #tutti.sizes<batch>>
  %0 = tutti.reduce max %x [2] : tensor<?x6x16xf32, #tutti.sizes<batch>>
  %1 = tutti.sub %x, %0 : tensor<?x6x16xf32, #tutti.sizes<batch>>, tensor<?x6x1xf32, #tutti.sizes<batch>>
  %2 = tutti.reshape %1 : tensor<?x6x16xf32, #tutti.sizes<batch>> -> tensor<?x3x32xf32, #tutti.sizes<batch>>
  %3 = tutti.slice %2 from [0, 0, 0] size [-1, 2, 32] step [1, 1, 1] : tensor<?x3x32xf32, #tutti.sizes<batch>>
  %4 = tutti.tanh %3 : tensor<?x2x32xf32, #tutti.sizes<batch>>
  return %4 : tensor<?x2x32xf32, #tutti.sizes<batch>>
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

// An einsum that is no product of rows and columns as it is spelled: columns come last, and the result is turned. So is
// what is multiplied, whose terms and rows would have a line each.
tutti.param @w : tensor<64x24x48xf32>
// CHECK-LABEL: func.func @layer_of_each_channel
func.func @layer_of_each_channel(%x: tensor<?x48x64xf32, #tutti.sizes<batch>>) -> tensor<?x24x64xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<64x24x48xf32>
  // CHECK: %[[X:.*]] = tutti.map %arg0 {{.*}} -> tensor<?x64x48xf32, #tutti.sizes<batch>>
  // CHECK: tutti.contract %[[X]], %{{.*}} "bcs,cts->cbt" :
  // CHECK-NEXT: tutti.map
  // CHECK-NOT: tutti.contract
  %0 = tutti.contract %x, %w "bsc,cts->btc" : tensor<?x48x64xf32, #tutti.sizes<batch>>, tensor<64x24x48xf32>
  return %0 : tensor<?x24x64xf32, #tutti.sizes<batch>>
}

// -----

// Several labels summed over are one, in their order.
// CHECK-LABEL: func.func @two_sums
func.func @two_sums(%x: tensor<?x6x8x20xf32, #tutti.sizes<batch>>, %y: tensor<?x6x8x24xf32, #tutti.sizes<batch>>)
    -> tensor<?x20x24xf32, #tutti.sizes<batch>> {
  // CHECK-DAG: %[[X:.*]] = tutti.reshape %arg0 : {{.*}} -> tensor<?x48x20xf32, #tutti.sizes<batch>>
  // CHECK-DAG: %[[Y:.*]] = tutti.reshape %arg1 : {{.*}} -> tensor<?x48x24xf32, #tutti.sizes<batch>>
  // CHECK: tutti.contract %[[X]], %[[Y]] "bik,bil->bkl"
  %0 = tutti.contract %x, %y "bijk,bijl->bkl" : tensor<?x6x8x20xf32, #tutti.sizes<batch>>, tensor<?x6x8x24xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x20x24xf32, #tutti.sizes<batch>>
}

// -----

// Terms that lie in two orders are copied into one; columns are the left operand's.
// CHECK-LABEL: func.func @copied
func.func @copied(%x: tensor<?x6x8x20xf32, #tutti.sizes<batch>>, %y: tensor<?x8x6x9xf32, #tutti.sizes<batch>>)
    -> tensor<?x20x9xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.map
  // CHECK: tutti.contract %{{.*}}, %{{.*}} "{{[a-z]*}},{{[a-z]*}}->bkl"
  %0 = tutti.contract %x, %y "bijk,bjil->bkl" : tensor<?x6x8x20xf32, #tutti.sizes<batch>>, tensor<?x8x6x9xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x20x9xf32, #tutti.sizes<batch>>
}

// -----

// Few columns or few rows: it stays.
// CHECK-LABEL: func.func @few
func.func @few(%x: tensor<?x6x8x3xf32, #tutti.sizes<batch>>, %y: tensor<?x6x8x24xf32, #tutti.sizes<batch>>)
    -> tensor<?x24x3xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.contract %arg0, %arg1 "bijk,bijl->blk"
  %0 = tutti.contract %x, %y "bijk,bijl->blk" : tensor<?x6x8x3xf32, #tutti.sizes<batch>>, tensor<?x6x8x24xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x24x3xf32, #tutti.sizes<batch>>
}

// -----

// Five columns and six terms are enough, where members share the rows.
// CHECK-LABEL: func.func @modes
func.func @modes(%x: tensor<?x6x9xf32, #tutti.sizes<batch>>, %w: tensor<?x9x6x5xf32, #tutti.sizes<active>>)
    -> tensor<?x?x5x9xf32, #tutti.sizes<active, batch>> {
  // CHECK: tutti.contract %{{.*}}, %arg1 "{{[a-z]*}},amio->ambo"
  // CHECK-NEXT: tutti.map
  %0 = tutti.contract %x, %w "bim,amio->abom" : tensor<?x6x9xf32, #tutti.sizes<batch>>, tensor<?x9x6x5xf32, #tutti.sizes<active>>
  return %0 : tensor<?x?x5x9xf32, #tutti.sizes<active, batch>>
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

// Values that are read several times each are followed once: the two moves meet behind all of them, and are none.
// CHECK-LABEL: func.func @read_twice
func.func @read_twice(%x: tensor<4x?x8xf32, #tutti.sizes<batch>>) -> tensor<4x?x8xf32, #tutti.sizes<batch>> {
  // CHECK-NOT: -> tensor<?x4x8xf32
  // CHECK: return
  %0 = tutti.transpose %x [1, 0, 2] : tensor<4x?x8xf32, #tutti.sizes<batch>>
  %1 = tutti.add %0, %0 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %2 = tutti.mul %1, %1 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %3 = tutti.add %2, %2 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %4 = tutti.mul %3, %3 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %5 = tutti.add %4, %4 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %6 = tutti.mul %5, %5 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %7 = tutti.add %6, %6 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %8 = tutti.mul %7, %7 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %9 = tutti.add %8, %8 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %10 = tutti.mul %9, %9 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %11 = tutti.add %10, %10 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %12 = tutti.mul %11, %11 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %13 = tutti.add %12, %12 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %14 = tutti.mul %13, %13 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %15 = tutti.add %14, %14 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %16 = tutti.mul %15, %15 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %17 = tutti.add %16, %16 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %18 = tutti.mul %17, %17 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %19 = tutti.add %18, %18 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %20 = tutti.mul %19, %19 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %21 = tutti.add %20, %20 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %22 = tutti.mul %21, %21 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %23 = tutti.add %22, %22 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %24 = tutti.mul %23, %23 : tensor<?x4x8xf32, #tutti.sizes<batch>>, tensor<?x4x8xf32, #tutti.sizes<batch>>
  %25 = tutti.transpose %24 [1, 0, 2] : tensor<?x4x8xf32, #tutti.sizes<batch>>
  return %25 : tensor<4x?x8xf32, #tutti.sizes<batch>>
}

// -----

// A weight on the left becomes no right operand: the order of its sums would be another.
tutti.param @w : tensor<20x9xf32>
// CHECK-LABEL: func.func @weight_on_the_left
func.func @weight_on_the_left(%x: tensor<?x20xf32, #tutti.sizes<batch>>) -> tensor<?x9xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<20x9xf32>
  // CHECK-NOT: "bk,kn->bn"
  // CHECK: return
  %0 = tutti.contract %w, %x "kn,bk->bn" : tensor<20x9xf32>, tensor<?x20xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x9xf32, #tutti.sizes<batch>>
}

// -----

// Axes that stay neighbours are moved as one: rows of sixteen columns, not of four.
// CHECK-DAG: #[[JOINED:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-LABEL: func.func @neighbours
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x4x16xf32, #tutti.sizes<batch>>)
func.func @neighbours(%x: tensor<?x4x4x16xf32, #tutti.sizes<batch>>) -> tensor<?x16x4x4xf32, #tutti.sizes<batch>> {
  // CHECK: %[[J:.*]] = tutti.reshape %[[X]] {{.*}} -> tensor<?x16x16xf32, #tutti.sizes<batch>>
  // CHECK: %[[M:.*]] = tutti.map %[[J]] [#[[JOINED]]]
  // CHECK: tutti.reshape %[[M]] {{.*}} -> tensor<?x16x4x4xf32, #tutti.sizes<batch>>
  %0 = tutti.transpose %x [0, 3, 1, 2] : tensor<?x4x4x16xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x16x4x4xf32, #tutti.sizes<batch>>
}

// -----

// So are those that were one axis before.
// CHECK-LABEL: func.func @split
// CHECK-SAME: (%[[X:.*]]: tensor<?x16x32xf32, #tutti.sizes<batch>>)
func.func @split(%x: tensor<?x16x32xf32, #tutti.sizes<batch>>) -> tensor<?x32x4x4xf32, #tutti.sizes<batch>> {
  // CHECK: %[[M:.*]] = tutti.map %[[X]] {{.*}} : (tensor<?x16x32xf32, #tutti.sizes<batch>>) -> tensor<?x32x16xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reshape %[[M]] {{.*}} -> tensor<?x32x4x4xf32, #tutti.sizes<batch>>
  %0 = tutti.transpose %x [0, 2, 1] : tensor<?x16x32xf32, #tutti.sizes<batch>>
  %1 = tutti.reshape %0 : tensor<?x32x16xf32, #tutti.sizes<batch>> -> tensor<?x32x4x4xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x32x4x4xf32, #tutti.sizes<batch>>
}

// -----

// What is computed of what was computed and turned is computed before it is turned; of what came in, as it is read.
// CHECK-LABEL: func.func @before_it_is_turned
// CHECK-SAME: (%[[X:.*]]: tensor<?x16x32xf32, #tutti.sizes<batch>>)
func.func @before_it_is_turned(%x: tensor<?x16x32xf32, #tutti.sizes<batch>>) -> (tensor<?x512xf32, #tutti.sizes<batch>>, tensor<?x32x16xf32, #tutti.sizes<batch>>) {
  // CHECK: %[[E:.*]] = tutti.map %[[X]] {{.*}} -> tensor<?x16x32xf32, #tutti.sizes<batch>>
  // CHECK: %[[T:.*]] = tutti.map %[[E]] {{.*}} -> tensor<?x16x32xf32, #tutti.sizes<batch>>
  // CHECK: math.tanh
  // CHECK: %[[M:.*]] = tutti.map %[[T]] {{.*}} -> tensor<?x32x16xf32, #tutti.sizes<batch>>
  // CHECK: tutti.reshape %[[M]] {{.*}} -> tensor<?x512xf32, #tutti.sizes<batch>>
  // CHECK: tutti.map %[[X]] {{.*}} -> tensor<?x32x16xf32, #tutti.sizes<batch>>
  // CHECK: math.tanh
  %0 = tutti.exp %x : tensor<?x16x32xf32, #tutti.sizes<batch>>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x16x32xf32, #tutti.sizes<batch>>
  %2 = tutti.tanh %1 : tensor<?x32x16xf32, #tutti.sizes<batch>>
  %3 = tutti.reshape %2 : tensor<?x32x16xf32, #tutti.sizes<batch>> -> tensor<?x512xf32, #tutti.sizes<batch>>
  %4 = tutti.transpose %x [0, 2, 1] : tensor<?x16x32xf32, #tutti.sizes<batch>>
  %5 = tutti.tanh %4 : tensor<?x32x16xf32, #tutti.sizes<batch>>
  return %3, %5 : tensor<?x512xf32, #tutti.sizes<batch>>, tensor<?x32x16xf32, #tutti.sizes<batch>>
}

// -----

// Not those of which a part is read, nor of a move that another op has in its kernel.
// CHECK-LABEL: func.func @not_neighbours
func.func @not_neighbours(%x: tensor<?x4x4x16xf32, #tutti.sizes<batch>>) -> (tensor<?x16x4x3xf32, #tutti.sizes<batch>>, tensor<?x16x4x1xf32, #tutti.sizes<batch>>) {
  // CHECK-NOT: tutti.reshape
  // CHECK: return
  %0 = tutti.slice %x from [0, 0, 0, 0] size [-1, 4, 3, 16] step [1, 1, 1, 1] : tensor<?x4x4x16xf32, #tutti.sizes<batch>>
  %1 = tutti.transpose %0 [0, 3, 1, 2] : tensor<?x4x3x16xf32, #tutti.sizes<batch>>
  %2 = tutti.transpose %x [0, 3, 1, 2] : tensor<?x4x4x16xf32, #tutti.sizes<batch>>
  %3 = tutti.reduce max %2 [3] : tensor<?x16x4x4xf32, #tutti.sizes<batch>>
  return %1, %3 : tensor<?x16x4x3xf32, #tutti.sizes<batch>>, tensor<?x16x4x1xf32, #tutti.sizes<batch>>
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

// What reads a move twice is its last reader.
// CHECK-DAG: #[[TWICE:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d0, d2, d1)>
// CHECK-LABEL: func.func @moved_once_read_twice
// CHECK-SAME: (%[[X:.*]]: tensor<?x8x16xf32, #tutti.sizes<batch>>)
func.func @moved_once_read_twice(%x: tensor<?x8x16xf32, #tutti.sizes<batch>>) -> tensor<?x16x8xf32, #tutti.sizes<batch>> {
  // CHECK: tutti.map %[[X]], %[[X]] [#[[TWICE]], #[[TWICE]]]
  // CHECK-NOT: tutti.map
  %0 = tutti.transpose %x [0, 2, 1] : tensor<?x8x16xf32, #tutti.sizes<batch>>
  %1 = tutti.mul %0, %0 : tensor<?x16x8xf32, #tutti.sizes<batch>>, tensor<?x16x8xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x16x8xf32, #tutti.sizes<batch>>
}

// -----

// Numbers of numbers are one map; what reads them computes it again where a launch is dearer than that.
module attributes {tutti.members = 3 : i64, tutti.target = #tutti<target cuda>} {
  // CHECK-LABEL: func.func @numbers
  // CHECK-SAME: (%[[X:.*]]: tensor<?x?x16xf32, #tutti.sizes<active, batch>>, %[[T:.*]]: tensor<f32>, %[[S:.*]]: tensor<?xf32, #tutti.sizes<active>>)
  func.func @numbers(%x: tensor<?x?x16xf32, #tutti.sizes<active, batch>>, %t: tensor<f32>, %s: tensor<?xf32, #tutti.sizes<active>>) -> tensor<?x?x16xf32, #tutti.sizes<active, batch>> {
    // CHECK-NEXT: %[[Y:.*]] = tutti.map %[[X]], %[[S]], %[[T]] [
    // CHECK: arith.negf
    // CHECK: arith.mulf
    // CHECK: math.exp
    // CHECK: arith.addf
    // CHECK-NOT: tutti.map
    // CHECK: return %[[Y]]
    %0 = tutti.neg %t : tensor<f32>
    %1 = tutti.mul %0, %s : tensor<f32>, tensor<?xf32, #tutti.sizes<active>>
    %2 = tutti.exp %1 : tensor<?xf32, #tutti.sizes<active>>
    %3 = tutti.reshape %2 : tensor<?xf32, #tutti.sizes<active>> -> tensor<?x1x1xf32, #tutti.sizes<active>>
    %4 = tutti.add %x, %3 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?x1x1xf32, #tutti.sizes<active>>
    return %4 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>
  }
}

// -----

// On a CPU numbers are not computed again for each element; nor is a launch saved where a number is an answer.
// CHECK-LABEL: func.func @numbers_apart
func.func @numbers_apart(%x: tensor<?x?x16xf32, #tutti.sizes<active, batch>>, %t: tensor<?xf32, #tutti.sizes<active>>) -> (tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?xf32, #tutti.sizes<active>>) {
  // CHECK: %[[N:.*]] = tutti.map
  // CHECK: math.exp
  // CHECK: tutti.map
  // CHECK: arith.negf
  // CHECK: math.sin
  // CHECK: tutti.map
  // CHECK-NOT: math
  // CHECK: return %{{.*}}, %[[N]]
  %0 = tutti.exp %t : tensor<?xf32, #tutti.sizes<active>>
  %1 = tutti.neg %t : tensor<?xf32, #tutti.sizes<active>>
  %2 = tutti.sin %1 : tensor<?xf32, #tutti.sizes<active>>
  %3 = tutti.reshape %2 : tensor<?xf32, #tutti.sizes<active>> -> tensor<?x1x1xf32, #tutti.sizes<active>>
  %4 = tutti.add %x, %3 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?x1x1xf32, #tutti.sizes<active>>
  %5 = tutti.reshape %0 : tensor<?xf32, #tutti.sizes<active>> -> tensor<?x1x1xf32, #tutti.sizes<active>>
  %6 = tutti.add %4, %5 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?x1x1xf32, #tutti.sizes<active>>
  return %6, %0 : tensor<?x?x16xf32, #tutti.sizes<active, batch>>, tensor<?xf32, #tutti.sizes<active>>
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

// -----

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
