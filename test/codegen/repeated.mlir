// A row of which each element is read twice, four or eight times comes from vectors of what there is, whose last one is read no further
// than the row goes. Of three times, and from the middle of an element's on, as sums along another axis than the last begin, lanes are gathered.
// RUN: split-file %s %t
// RUN: for f in two eight three scan; do tutti-compile %t/$f.mlir --dim batch=1..9 --target cpu -o %t/$f.tutti && tutti-verify %t/$f.tutti %t/$f.mlir || exit 1; done
// RUN: tutti-compile %t/two.mlir --dim batch=1..9 --target %cpu -o %t/two.tutti && tutti-verify %t/two.tutti %t/two.mlir --dim batch=1

//--- two.mlir
func.func @main(%x: tensor<?x3x13xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x3x26xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %i = tutti.constant dense<[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12]> : tensor<26xi64>
  %0 = tutti.gather %x at %i axis 2 : tensor<?x3x13xf32, #tutti.sizes<batch>>, tensor<26xi64>
  %1 = tutti.tanh %0 : tensor<?x3x26xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x3x26xf32, #tutti.sizes<batch>>
}

//--- eight.mlir
func.func @main(%x: tensor<?x5xf16, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x40xf16, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %i = tutti.constant dense<[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]> : tensor<40xi64>
  %0 = tutti.gather %x at %i axis 1 : tensor<?x5xf16, #tutti.sizes<batch>>, tensor<40xi64>
  return %0 : tensor<?x40xf16, #tutti.sizes<batch>>
}

//--- three.mlir
func.func @main(%x: tensor<?x7xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x21xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %i = tutti.constant dense<[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6]> : tensor<21xi64>
  %0 = tutti.gather %x at %i axis 1 : tensor<?x7xf32, #tutti.sizes<batch>>, tensor<21xi64>
  return %0 : tensor<?x21xf32, #tutti.sizes<batch>>
}

//--- scan.mlir
func.func @main(%x: tensor<?x48xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x96xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %i = tutti.constant dense<[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18, 19, 19, 20, 20, 21, 21, 22, 22, 23, 23, 24, 24, 25, 25, 26, 26, 27, 27, 28, 28, 29, 29, 30, 30, 31, 31, 32, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37, 38, 38, 39, 39, 40, 40, 41, 41, 42, 42, 43, 43, 44, 44, 45, 45, 46, 46, 47, 47]> : tensor<96xi64>
  %0 = tutti.gather %x at %i axis 1 : tensor<?x48xf32, #tutti.sizes<batch>>, tensor<96xi64>
  %1 = tutti.scan sum %0 step 3 : tensor<?x96xf32, #tutti.sizes<batch>>
  return %1 : tensor<?x96xf32, #tutti.sizes<batch>>
}
