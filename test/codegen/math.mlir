// RUN: tutti-opt %s --tutti-expand-math | FileCheck %s
// RUN: tutti-opt %s --tutti-expand-math --mlir-print-op-generic | FileCheck %s --check-prefix=NONE

// Nothing is left but what one instruction does, nothing that calls, and nothing that loops but powers of integers.
// NONE-NOT: "math.{{(exp|log|tanh|erf|sin|cos|pow|ipowi|rsqrt|round"|exp2|expm1|log1p|log2|log10)}}
// NONE-NOT: "{{(scf.for|cf|func.call|memref)}}

// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  // The bound comes first in the comparison: a NaN stays.
  // CHECK: %[[ABOVE:.*]] = arith.cmpf olt, %[[MAX:.*]], %[[X]]
  // CHECK: arith.select %[[ABOVE]], %[[MAX]], %[[X]]
  // CHECK-COUNT-10: math.fma
  // CHECK: arith.shli
  // CHECK: arith.mulf
  // CHECK: %[[Y:.*]] = arith.mulf
  // CHECK-NEXT: return %[[Y]]
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @scalar(
// CHECK: math.fma {{.*}} : f32
func.func @scalar(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @half(
// CHECK: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
func.func @half(%x: vector<8xf16>) -> vector<8xf16> {
  %y = math.erf %x : vector<8xf16>
  return %y : vector<8xf16>
}

// Whatever the float, its multiple of 2 / pi is exact in double: a way that is gone where one of the lanes is large.
// CHECK-LABEL: func.func @sin(
// CHECK: %[[LARGE:.*]] = arith.cmpf oge, {{.*}} : vector<16xf32>
// CHECK: %[[LANES:.*]] = llvm.bitcast %[[LARGE]] : vector<16xi1> to i16
// CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[LANES]]
// CHECK: scf.if %[[ANY]]
// CHECK: arith.extf {{.*}} : vector<16xf32> to vector<16xf64>
// CHECK-COUNT-6: math.roundeven {{.*}} : vector<16xf64>
// CHECK: arith.select %[[LARGE]]
func.func @sin(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.sin %x : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @pow(
// CHECK-NOT: math.powf
func.func @pow(%x: vector<16xf32>, %n: vector<16xf32>, %i: i32) -> (vector<16xf32>, i32) {
  %y = math.powf %x, %n : vector<16xf32>
  %z = math.ipowi %i, %i : i32
  return %y, %z : vector<16xf32>, i32
}

// A square for each bit of an exponent, up to the highest of any lane; a constant's bits are known.
// CHECK-LABEL: func.func @integer_powers(
// CHECK-SAME: %[[X:[^:]*]]: vector<16xi32>
// CHECK: scf.while
// CHECK: arith.cmpi ne, {{.*}} : vector<16xi32>
// CHECK: llvm.bitcast {{.*}} : vector<16xi1> to i16
// CHECK: scf.condition
// CHECK: arith.shrui
// CHECK: %[[X2:.*]] = arith.muli %[[X]], %[[X]]
// CHECK-NEXT: %[[X4:.*]] = arith.muli %[[X2]], %[[X2]]
// CHECK-NEXT: %[[X5:.*]] = arith.muli %[[X4]], %[[X]]
// CHECK-NEXT: %[[X10:.*]] = arith.muli %[[X5]], %[[X5]]
// CHECK-NEXT: return %{{.*}}, %[[X10]]
func.func @integer_powers(%x: vector<16xi32>, %n: vector<16xi32>) -> (vector<16xi32>, vector<16xi32>) {
  %ten = arith.constant dense<10> : vector<16xi32>
  %y = math.ipowi %x, %n : vector<16xi32>
  %z = math.ipowi %x, %ten : vector<16xi32>
  return %y, %z : vector<16xi32>, vector<16xi32>
}

// Instructions stay what they are.
// CHECK-LABEL: func.func @instructions(
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.copysign
// CHECK-NEXT: math.floor
// CHECK-NEXT: return
func.func @instructions(%x: vector<16xf32>) -> vector<16xf32> {
  %a = math.sqrt %x : vector<16xf32>
  %b = math.absf %a : vector<16xf32>
  %c = math.copysign %b, %x : vector<16xf32>
  %d = math.floor %c : vector<16xf32>
  return %d : vector<16xf32>
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
func.func @relu(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  // maximum(-0, +0) is +0, so that the comparison of x with zero takes the zero.
  // CHECK: %[[KEEP:.*]] = arith.cmpf ugt, %[[X]], %[[ZERO:.*]] :
  // CHECK: arith.select %[[KEEP]], %[[X]], %[[ZERO]]
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %y = arith.maximumf %x, %zero : vector<16xf32>
  // CHECK: %[[CUT:.*]] = arith.cmpf olt, %[[SIX:.*]], %[[X]]
  // CHECK: arith.select %[[CUT]], %[[SIX]], %[[X]]
  %six = arith.constant 6.0 : f32
  %all = vector.broadcast %six : f32 to vector<16xf32>
  %z = arith.minimumf %all, %x : vector<16xf32>
  return %y, %z : vector<16xf32>, vector<16xf32>
}

// Two values: the op itself, whose bits do not depend on their order.
// CHECK-LABEL: func.func @max(
// CHECK-NEXT: arith.maximumf
func.func @max(%x: f32, %y: f32) -> f32 {
  %z = arith.maximumf %x, %y : f32
  return %z : f32
}
