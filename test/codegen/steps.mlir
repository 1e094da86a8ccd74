// What readers take of a row at steps, all of it together, is kept in scratch memory: vectors would compute it at places
// far apart. What one takes a part of, or as neighbours, is computed there.
// RUN: split-file %s %t
// RUN: tutti-compile %t/pairs.mlir --target cpu -o %t/pairs.tutti --explain | FileCheck %s --check-prefix=KEPT
// RUN: tutti-verify %t/pairs.tutti %t/pairs.mlir | FileCheck %s --check-prefix=RIGHT
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
