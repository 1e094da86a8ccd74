// RUN: env MALLOC_PERTURB_=165 tutti-opt %s --tutti-decompose --tutti-compose --split-input-file | FileCheck %s
// Moves that follow each other, and what is computed between them.

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

// Each element so many times is a move, any other choice of elements a gather.
// CHECK-DAG: #[[EACH:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d0, d1, d2 floordiv 3)>
// CHECK-LABEL: func.func @each_three_times
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x2xf32, #tutti.sizes<batch>>)
func.func @each_three_times(%x: tensor<?x4x2xf32, #tutti.sizes<batch>>) -> (tensor<?x4x6xf32, #tutti.sizes<batch>>, tensor<?x4x6xf32, #tutti.sizes<batch>>) {
  // CHECK-DAG: tutti.map %[[X]] [#[[EACH]]]
  // CHECK-DAG: tutti.gather %[[X]]
  %0 = tutti.constant dense<[0, 0, 0, 1, 1, 1]> : tensor<6xi64>
  %1 = tutti.constant dense<[0, 1, 0, 1, 0, 1]> : tensor<6xi64>
  %2 = tutti.gather %x at %0 axis 2 : tensor<?x4x2xf32, #tutti.sizes<batch>>, tensor<6xi64>
  %3 = tutti.gather %x at %1 axis 2 : tensor<?x4x2xf32, #tutti.sizes<batch>>, tensor<6xi64>
  return %2, %3 : tensor<?x4x6xf32, #tutti.sizes<batch>>, tensor<?x4x6xf32, #tutti.sizes<batch>>
}

// -----

// An image whose channels become columns: its pixels, which a reshape behind the move counts as one axis, are one before it, too.
// CHECK-DAG: #[[PIXELS:.*]] = affine_map<(d0, d1, d2){{.*}} -> (d0, d2, d1)>
// CHECK-LABEL: func.func @pixels
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x40x50xf32, #tutti.sizes<batch>>)
func.func @pixels(%x: tensor<?x4x40x50xf32, #tutti.sizes<batch>>) -> tensor<?x2000x4xf32, #tutti.sizes<batch>> {
  // CHECK-NEXT: %[[ROWS:.*]] = tutti.reshape %[[X]] : {{.*}} -> tensor<?x4x2000xf32, #tutti.sizes<batch>>
  // CHECK-NEXT: %[[Y:.*]] = tutti.map %[[ROWS]] [#[[PIXELS]]]
  // CHECK: return %[[Y]]
  %0 = tutti.transpose %x [0, 2, 3, 1] : tensor<?x4x40x50xf32, #tutti.sizes<batch>>
  %1 = tutti.reshape %0 : tensor<?x40x50x4xf32, #tutti.sizes<batch>> -> tensor<?x2000x4xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x2000x4xf32, #tutti.sizes<batch>>
}

// -----

// Windows of three places whose channels were brought behind them: for eight sums of 30 terms, sixteen of which are taken at a time,
// neighbours stay neighbours; for 16 sums, to each of which a term is added by itself, they are read where they lay before.
tutti.param @few : tensor<30x8xf32>
tutti.param @many : tensor<30x16xf32>
// CHECK-LABEL: func.func @windows
// CHECK-SAME: (%[[X:.*]]: tensor<?x10x20xf32, #tutti.sizes<batch>>)
func.func @windows(%x: tensor<?x10x20xf32, #tutti.sizes<batch>>)
    -> (tensor<?x18x8xf32, #tutti.sizes<batch>>, tensor<?x18x16xf32, #tutti.sizes<batch>>) {
  %few = tutti.get @few : tensor<30x8xf32>
  %many = tutti.get @many : tensor<30x16xf32>
  // CHECK-DAG: %[[LAST:.*]] = tutti.map %[[X]] {{.*}} -> tensor<?x20x10xf32, #tutti.sizes<batch>>
  // CHECK-DAG: %[[FEW:.*]] = tutti.map %[[LAST]] {{.*}} -> tensor<?x18x30xf32, #tutti.sizes<batch>>
  // CHECK-DAG: %[[MANY:.*]] = tutti.map %[[X]] {{.*}} -> tensor<?x18x30xf32, #tutti.sizes<batch>>
  // CHECK-DAG: tutti.contract %[[FEW]], %{{.*}} "bsk,kn->bsn" : {{.*}}, tensor<30x8xf32>
  // CHECK-DAG: tutti.contract %[[MANY]], %{{.*}} "bsk,kn->bsn" : {{.*}}, tensor<30x16xf32>
  %0 = tutti.transpose %x [0, 2, 1] : tensor<?x10x20xf32, #tutti.sizes<batch>>
  %1 = tutti.windows %0 of [3] in [20] count [18] step [1] gap [1] before [0] : tensor<?x20x10xf32, #tutti.sizes<batch>>
  %2 = tutti.contract %1, %few "bsk,kn->bsn" : tensor<?x18x30xf32, #tutti.sizes<batch>>, tensor<30x8xf32>
  %3 = tutti.contract %1, %many "bsk,kn->bsn" : tensor<?x18x30xf32, #tutti.sizes<batch>>, tensor<30x16xf32>
  return %2, %3 : tensor<?x18x8xf32, #tutti.sizes<batch>>, tensor<?x18x16xf32, #tutti.sizes<batch>>
}

// -----

// A map without operands is no move.
// CHECK-LABEL: func.func @nothing
func.func @nothing() -> tensor<f32> {
  // CHECK: tutti.map []
  // CHECK-NEXT: arith.constant 1.0
  %0 = tutti.constant dense<1.25> : tensor<f32>
  %1 = tutti.div %0, %0 : tensor<f32>, tensor<f32>
  return %1 : tensor<f32>
}
