// RUN: tutti-opt %s --tutti-cpu-batch-math=most=4 | FileCheck %s
// RUN: tutti-opt %s --tutti-cpu-batch-math=most=1 | FileCheck %s --check-prefix=ONE

// Functions of two vectors, as one of a vector that is twice as long.
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: vector<16xf32>
// CHECK: %[[XY:.*]] = vector.shuffle %[[X]], %[[Y]]
// CHECK: %[[E:.*]] = math.exp %[[XY]] : vector<32xf32>
// CHECK-DAG: vector.shuffle %[[E]], %[[E]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK-DAG: vector.shuffle %[[E]], %[[E]] [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// ONE-LABEL: func.func @two(
// ONE-COUNT-2: math.exp {{.*}} : vector<16xf32>
func.func @two(%x: vector<16xf32>, %y: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %a = math.exp %x : vector<16xf32>
  %b = math.exp %y : vector<16xf32>
  return %a, %b : vector<16xf32>, vector<16xf32>
}

// As many as a power of two: of three, two.
// CHECK-LABEL: func.func @three(
// CHECK: math.tanh {{.*}} : vector<32xf32>
// CHECK: math.tanh {{.*}} : vector<16xf32>
func.func @three(%x: vector<16xf32>, %y: vector<16xf32>, %z: vector<16xf32>)
    -> (vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %a = math.tanh %x : vector<16xf32>
  %b = math.tanh %y : vector<16xf32>
  %c = math.tanh %z : vector<16xf32>
  return %a, %b, %c : vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// One that needs the other stays behind it.
// CHECK-LABEL: func.func @dependent(
// CHECK-COUNT-2: math.exp {{.*}} : vector<16xf32>
func.func @dependent(%x: vector<16xf32>) -> vector<16xf32> {
  %a = math.exp %x : vector<16xf32>
  %b = arith.negf %a : vector<16xf32>
  %c = math.exp %b : vector<16xf32>
  return %c : vector<16xf32>
}

// Loads move up with what reads them, but not past a store.
// CHECK-LABEL: func.func @loads(
// CHECK-COUNT-2: llvm.load
// CHECK: math.exp {{.*}} : vector<32xf32>
// CHECK: llvm.store
// CHECK: llvm.load
// CHECK: math.exp {{.*}} : vector<16xf32>
func.func @loads(%p: !llvm.ptr, %q: !llvm.ptr) -> (vector<16xf32>, vector<16xf32>) {
  %x = llvm.load %p : !llvm.ptr -> vector<16xf32>
  %a = math.exp %x : vector<16xf32>
  %y = llvm.load %q : !llvm.ptr -> vector<16xf32>
  %b = math.exp %y : vector<16xf32>
  llvm.store %a, %q : vector<16xf32>, !llvm.ptr
  %z = llvm.load %q : !llvm.ptr -> vector<16xf32>
  %c = math.exp %z : vector<16xf32>
  return %b, %c : vector<16xf32>, vector<16xf32>
}

// Divisions by one number are functions; by a vector they are one instruction each.
// CHECK-LABEL: func.func @divisions(
// CHECK: arith.divf {{.*}} : vector<32xf32>
// CHECK-COUNT-2: arith.divf {{.*}} : vector<16xf32>
func.func @divisions(%x: vector<16xf32>, %y: vector<16xf32>, %d: vector<16xf32>, %s: f32)
    -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %one = vector.broadcast %s : f32 to vector<16xf32>
  %a = arith.divf %x, %one : vector<16xf32>
  %b = arith.divf %y, %one : vector<16xf32>
  %e = arith.divf %x, %d : vector<16xf32>
  %f = arith.divf %y, %d : vector<16xf32>
  return %a, %b, %e, %f : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// Vectors of two axes, and those of a length that is not known, are left alone.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-2: math.exp {{.*}} : vector<2x16xf32>
// CHECK-COUNT-2: math.exp {{.*}} : vector<[16]xf32>
func.func @others(%x: vector<2x16xf32>, %y: vector<2x16xf32>, %u: vector<[16]xf32>, %v: vector<[16]xf32>)
    -> (vector<2x16xf32>, vector<2x16xf32>, vector<[16]xf32>, vector<[16]xf32>) {
  %a = math.exp %x : vector<2x16xf32>
  %b = math.exp %y : vector<2x16xf32>
  %c = math.exp %u : vector<[16]xf32>
  %d = math.exp %v : vector<[16]xf32>
  return %a, %b, %c, %d : vector<2x16xf32>, vector<2x16xf32>, vector<[16]xf32>, vector<[16]xf32>
}
