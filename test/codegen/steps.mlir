// What readers take of a row at steps, all of it together, is kept in scratch memory: vectors would compute it at places
// far apart. So is a sum over a window that a function is computed of. What a reader takes a part of, or as neighbours,
// is computed there.
// RUN: split-file %s %t
// RUN: tutti-compile %t/pairs.mlir --target cpu -o %t/pairs.tutti --explain | FileCheck %s --check-prefix=KEPT
// RUN: tutti-verify %t/pairs.tutti %t/pairs.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: tutti-compile %t/window.mlir --target cpu -o %t/window.tutti --explain | FileCheck %s --check-prefix=KEPT
// RUN: tutti-verify %t/window.tutti %t/window.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: tutti-compile %t/quarter.mlir --target cpu -o %t/quarter.tutti --explain | FileCheck %s --check-prefix=COMPUTED
// RUN: tutti-verify %t/quarter.tutti %t/quarter.mlir | FileCheck %s --check-prefix=RIGHT
// KEPT: k0: {{.*}}, {{[0-9][0-9][0-9]+}} bytes of scratch
// COMPUTED: k0: {{.*}}, 64 bytes of scratch
// RIGHT: ok: 1 of 1 results within their bounds

//--- pairs.mlir
func.func @main(%x: tensor<?x64xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x32xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %h = tutti.neg %x : tensor<?x64xf32, #tutti.sizes<batch>>
  %even = tutti.slice %h from [0, 0] size [-1, 32] step [1, 2] : tensor<?x64xf32, #tutti.sizes<batch>>
  %odd = tutti.slice %h from [0, 1] size [-1, 32] step [1, 2] : tensor<?x64xf32, #tutti.sizes<batch>>
  %y = tutti.max %even, %odd : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<?x32xf32, #tutti.sizes<batch>>
  return %y : tensor<?x32xf32, #tutti.sizes<batch>>
}

//--- quarter.mlir
func.func @main(%x: tensor<?x64xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x16xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %h = tutti.neg %x : tensor<?x64xf32, #tutti.sizes<batch>>
  %fourth = tutti.slice %h from [0, 0] size [-1, 16] step [1, 4] : tensor<?x64xf32, #tutti.sizes<batch>>
  %first = tutti.slice %h from [0, 0] size [-1, 16] step [1, 1] : tensor<?x64xf32, #tutti.sizes<batch>>
  %y = tutti.max %fourth, %first : tensor<?x16xf32, #tutti.sizes<batch>>, tensor<?x16xf32, #tutti.sizes<batch>>
  return %y : tensor<?x16xf32, #tutti.sizes<batch>>
}

//--- window.mlir
func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x64xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %e0 = tutti.slice %x from [0, 0] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %e1 = tutti.slice %x from [0, 1] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %e2 = tutti.slice %x from [0, 2] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %e3 = tutti.slice %x from [0, 3] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %e4 = tutti.slice %x from [0, 4] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %e5 = tutti.slice %x from [0, 5] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %e6 = tutti.slice %x from [0, 6] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %e7 = tutti.slice %x from [0, 7] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %e8 = tutti.slice %x from [0, 8] size [-1, 64] step [1, 1] : tensor<?x72xf32, #tutti.sizes<batch>>
  %s1 = tutti.add %e0, %e1 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %s2 = tutti.add %s1, %e2 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %s3 = tutti.add %s2, %e3 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %s4 = tutti.add %s3, %e4 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %s5 = tutti.add %s4, %e5 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %s6 = tutti.add %s5, %e6 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %s7 = tutti.add %s6, %e7 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %s8 = tutti.add %s7, %e8 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %q1 = tutti.sub %s8, %e1 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %q2 = tutti.sub %q1, %e2 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %q3 = tutti.sub %q2, %e3 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %q4 = tutti.sub %q3, %e4 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %q5 = tutti.sub %q4, %e5 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %q6 = tutti.sub %q5, %e6 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %q7 = tutti.sub %q6, %e7 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %q8 = tutti.sub %q7, %e8 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<?x64xf32, #tutti.sizes<batch>>
  %y = tutti.sigmoid %q8 : tensor<?x64xf32, #tutti.sizes<batch>>
  return %y : tensor<?x64xf32, #tutti.sizes<batch>>
}
