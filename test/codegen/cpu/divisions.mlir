// RUN: tutti-opt %s --tutti-cpu-divisions | FileCheck %s

// The quotient is a product that an fma mends. The divider stays for numbers that are far out.
// CHECK-LABEL: func.func @one(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>, %[[S:.*]]: f32
// CHECK: scf.if
// CHECK:   %[[R:.*]] = arith.divf {{.*}}, %[[S]] : f32
// CHECK:   %[[Z:.*]] = vector.broadcast %[[R]] : f32 to vector<16xf32>
// CHECK:   %[[Q:.*]] = arith.mulf %[[X]], %[[Z]]
// CHECK:   math.fma
// CHECK:   math.fma
// CHECK-NOT: math.copysign
// CHECK: else
// CHECK:   scf.if
// CHECK:     math.copysign
// CHECK:   else
// CHECK:     arith.divf %[[X]], {{.*}} : vector<16xf32>
func.func @one(%x: vector<16xf32>, %s: f32) -> vector<16xf32> {
  %d = vector.broadcast %s : f32 to vector<16xf32>
  %y = arith.divf %x, %d : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @constant(
// CHECK: scf.if
// CHECK: math.fma
func.func @constant(%x: vector<32xf32>) -> vector<32xf32> {
  %d = arith.constant dense<3.0> : vector<32xf32>
  %y = arith.divf %x, %d : vector<32xf32>
  return %y : vector<32xf32>
}

// Not by many numbers, not of doubles, scalars or vectors of two axes.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: scf.if
func.func @others(%x: vector<16xf32>, %d: vector<16xf32>, %u: vector<8xf64>, %v: f64, %s: f32, %z: vector<4x16xf32>)
    -> (vector<16xf32>, vector<8xf64>, f32, vector<4x16xf32>) {
  %t = vector.broadcast %s : f32 to vector<4x16xf32>
  %e = arith.divf %z, %t : vector<4x16xf32>
  %w = vector.broadcast %v : f64 to vector<8xf64>
  %a = arith.divf %x, %d : vector<16xf32>
  %b = arith.divf %u, %w : vector<8xf64>
  %c = arith.divf %s, %s : f32
  return %a, %b, %c, %e : vector<16xf32>, vector<8xf64>, f32, vector<4x16xf32>
}
