// RUN: env MALLOC_PERTURB_=165 tutti-opt %s --tutti-decompose --tutti-compose --split-input-file | FileCheck %s
// Products of two values read what was transposed as it lies.

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
