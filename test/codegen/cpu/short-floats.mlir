// RUN: tutti-opt %s --tutti-cpu-short-floats | FileCheck %s

// What crosses a block is an integer, a constant its bits, and a cast between both nothing.
// CHECK-LABEL: func.func @choice(
// CHECK-NOT: bf16
// CHECK: %[[ONE:.*]] = arith.constant 16256 : i16
// CHECK: %[[Y:.*]] = scf.if {{.*}} -> (i16)
// CHECK:   scf.yield {{.*}} : i16
// CHECK:   scf.yield %[[ONE]] : i16
// CHECK: llvm.store %[[Y]], {{.*}} : i16, !llvm.ptr
// CHECK-NOT: bf16
// CHECK: return
func.func @choice(%p: !llvm.ptr, %c: i1) {
  %one = arith.constant 1.0 : bf16
  %y = scf.if %c -> (bf16) {
    %bits = llvm.load %p : !llvm.ptr -> i16
    %x = arith.bitcast %bits : i16 to bf16
    scf.yield %x : bf16
  } else {
    scf.yield %one : bf16
  }
  %out = arith.bitcast %y : bf16 to i16
  llvm.store %out, %p : i16, !llvm.ptr
  return
}

// So are arguments and results.
// CHECK-LABEL: func.func @argument(
// CHECK-SAME: %[[X:.*]]: i16) -> i16
// CHECK: return %[[X]] : i16
func.func @argument(%x: bf16) -> bf16 {
  return %x : bf16
}

// CHECK-LABEL: func.func @vectors(
// CHECK: arith.constant dense<-16384> : vector<16xi16>
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xi16>
func.func @vectors(%p: !llvm.ptr, %c: vector<16xi1>) {
  %two = arith.constant dense<-2.0> : vector<16xbf16>
  %bits = llvm.load %p : !llvm.ptr -> vector<16xi16>
  %x = arith.bitcast %bits : vector<16xi16> to vector<16xbf16>
  %y = arith.select %c, %x, %two : vector<16xi1>, vector<16xbf16>
  %out = arith.bitcast %y : vector<16xbf16> to vector<16xi16>
  llvm.store %out, %p : vector<16xi16>, !llvm.ptr
  return
}
