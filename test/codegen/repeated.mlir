// A row of which each element is read twice, four or eight times comes from vectors of what there is, whose last one is read no further
// than the row goes. Of three times, and of parts of a row, lanes are gathered.
// RUN: split-file %s %t
// RUN: for f in two eight three; do tutti-compile %t/$f.mlir --dim batch=1..9 --target cpu -o %t/$f.tutti && tutti-verify %t/$f.tutti %t/$f.mlir || exit 1; done
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
