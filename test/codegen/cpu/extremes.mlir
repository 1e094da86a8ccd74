// RUN: tutti-opt %s --tutti-cpu-extremes | FileCheck %s

// The operand 4 takes the sign of the number that is chosen, 5 the larger one instead of the smaller. A NaN is the sum.
// CHECK-LABEL: func.func @max(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: vector<16xf32>
// CHECK-DAG: %[[LARGER:.*]] = arith.constant 5 : i32
// CHECK: %[[NUMBER:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"({{.*}}, {{.*}}, %[[LARGER]],
// CHECK: %[[ISNAN:.*]] = arith.cmpf uno, %[[X]], %[[Y]]
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK: arith.select %[[ISNAN]], %[[SUM]], %[[NUMBER]]
func.func @max(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %z = arith.maximumf %x, %y : vector<16xf32>
  return %z : vector<16xf32>
}

// CHECK-LABEL: func.func @min(
// CHECK-DAG: %[[SMALLER:.*]] = arith.constant 4 : i32
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.range.pd.512"({{.*}}, {{.*}}, %[[SMALLER]],
func.func @min(%x: vector<8xf64>, %y: vector<8xf64>) -> vector<8xf64> {
  %z = arith.minimumf %x, %y : vector<8xf64>
  return %z : vector<8xf64>
}

// maxnumf, which drops a NaN, and what is less than a register stay.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: llvm.call_intrinsic
func.func @others(%x: vector<16xf32>, %s: f32) -> (vector<16xf32>, f32) {
  %a = arith.maxnumf %x, %x : vector<16xf32>
  %b = arith.maximumf %s, %s : f32
  return %a, %b : vector<16xf32>, f32
}
