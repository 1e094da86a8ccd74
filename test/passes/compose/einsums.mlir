// RUN: env MALLOC_PERTURB_=165 tutti-opt %s --tutti-decompose --tutti-compose --split-input-file | FileCheck %s
// Einsums that become products of rows and columns.

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
