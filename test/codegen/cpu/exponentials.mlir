// RUN: tutti-opt %s --tutti-cpu-exponentials | FileCheck %s

// The power of two comes in by one instruction, for as many registers as the vector fills.
// CHECK-LABEL: func.func @single(
// CHECK-NOT: math.exp
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK-NOT: llvm.call_intrinsic
func.func @single(%x: vector<32xf32>) -> vector<32xf32> {
  %y = math.exp %x : vector<32xf32>
  return %y : vector<32xf32>
}

// CHECK-LABEL: func.func @double(
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.pd.512"
func.func @double(%x: vector<8xf64>) -> vector<8xf64> {
  %y = math.exp %x : vector<8xf64>
  return %y : vector<8xf64>
}

// Less than a register, and scalars, are left to tutti-expand-math.
// CHECK-LABEL: func.func @others(
// CHECK: math.exp {{.*}} : vector<8xf32>
// CHECK: math.exp {{.*}} : f32
// CHECK: math.exp {{.*}} : vector<4x16xf32>
func.func @others(%x: vector<8xf32>, %s: f32, %y: vector<4x16xf32>) -> (vector<8xf32>, f32, vector<4x16xf32>) {
  %a = math.exp %x : vector<8xf32>
  %b = math.exp %s : f32
  %c = math.exp %y : vector<4x16xf32>
  return %a, %b, %c : vector<8xf32>, f32, vector<4x16xf32>
}
