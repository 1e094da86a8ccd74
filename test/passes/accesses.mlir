// What is composed of moves reads the elements that the moves one by one would have.
// RUN: split-file %s %t
// RUN: for f in turned part around signs; do \
// RUN:   %python %S/../tools/filled.py %t/$f.mlir > %t/m.mlir && tutti-compile %t/m.mlir --target %cpu,emulated --precision f32-ffma -o %t/$f.tutti || exit 1; \
// RUN:   for d in cpu emulated; do env TUTTI_CUDA_DRIVER=$TUTTI_LIBRARIES/libcuda-emulated.so tutti-verify %t/$f.tutti %t/m.mlir --device $d > %t/said || { cat %t/said; exit 1; }; done; \
// RUN: done

// What is computed of an input is read at its own place and, by another map, at the one across the diagonal: it is not
// computed in the shape of the reshape behind both.
//--- turned.mlir
func.func @main(%x: tensor<?x16x16xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x32x1xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %0 = tutti.exp %x : tensor<?x16x16xf32, #tutti.sizes<batch>>
  %1 = tutti.transpose %0 [0, 2, 1] : tensor<?x16x16xf32, #tutti.sizes<batch>>
  %2 = tutti.neg %1 : tensor<?x16x16xf32, #tutti.sizes<batch>>
  %3 = tutti.sub %2, %0 : tensor<?x16x16xf32, #tutti.sizes<batch>>, tensor<?x16x16xf32, #tutti.sizes<batch>>
  %4 = tutti.reshape %3 : tensor<?x16x16xf32, #tutti.sizes<batch>> -> tensor<?x32x8xf32, #tutti.sizes<batch>>
  %5 = tutti.reduce sum %4 [2] : tensor<?x32x8xf32, #tutti.sizes<batch>>
  return %5 : tensor<?x32x1xf32, #tutti.sizes<batch>>
}

// The first half of a layer's columns, twice, is as many elements as all of them.
//--- part.mlir
tutti.param @w : tensor<8x32xf32> {values = dense<0.25> : tensor<8x32xf32>}
func.func @main(%x: tensor<?x9x8xf32, #tutti.sizes<batch>> {tutti.name = "x"}, %z: tensor<?x9x16xf32, #tutti.sizes<batch>> {tutti.name = "z"}) -> (tensor<?x16x9x2xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %w = tutti.get @w : tensor<8x32xf32>
  %0 = tutti.contract %x, %w "bsk,kn->bsn" : tensor<?x9x8xf32, #tutti.sizes<batch>>, tensor<8x32xf32>
  %1 = tutti.slice %0 from [0, 0, 0] size [-1, 9, 16] step [1, 1, 1] : tensor<?x9x32xf32, #tutti.sizes<batch>>
  %2 = tutti.transpose %1 [0, 2, 1] : tensor<?x9x16xf32, #tutti.sizes<batch>>
  %3 = tutti.reshape %2 : tensor<?x16x9xf32, #tutti.sizes<batch>> -> tensor<?x16x9x1xf32, #tutti.sizes<batch>>
  %4 = tutti.broadcast %3 : tensor<?x16x9x1xf32, #tutti.sizes<batch>> -> tensor<?x16x9x2xf32, #tutti.sizes<batch>>
  %5 = tutti.transpose %z [0, 2, 1] : tensor<?x9x16xf32, #tutti.sizes<batch>>
  %6 = tutti.reshape %5 : tensor<?x16x9xf32, #tutti.sizes<batch>> -> tensor<?x16x9x1xf32, #tutti.sizes<batch>>
  %7 = tutti.broadcast %6 : tensor<?x16x9x1xf32, #tutti.sizes<batch>> -> tensor<?x16x9x2xf32, #tutti.sizes<batch>>
  %8 = tutti.mul %4, %7 : tensor<?x16x9x2xf32, #tutti.sizes<batch>>, tensor<?x16x9x2xf32, #tutti.sizes<batch>>
  return %8 : tensor<?x16x9x2xf32, #tutti.sizes<batch>>
}

// Backwards over copies of a row: the places in it are remainders of what is below 0.
//--- around.mlir
func.func @main(%x: tensor<?x100xf32, #tutti.sizes<batch>> {tutti.name = "x"}, %i: tensor<64xi64> {tutti.name = "i"}) -> (tensor<?x128xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %one = tutti.constant dense<1> : tensor<i64>
  %0 = tutti.broadcast %i : tensor<64xi64> -> tensor<3x64xi64>
  %1 = tutti.reshape %0 : tensor<3x64xi64> -> tensor<192xi64>
  %2 = tutti.slice %1 from [128] size [128] step [-1] : tensor<192xi64>
  %3 = tutti.add %2, %one : tensor<128xi64>, tensor<i64>
  %4 = tutti.gather %x at %3 axis 1 : tensor<?x100xf32, #tutti.sizes<batch>>, tensor<128xi64>
  return %4 : tensor<?x128xf32, #tutti.sizes<batch>>
}

// A number that gains or loses its sign is no move: what is turned behind it has another type.
//--- signs.mlir
func.func @main(%x: tensor<?x3x4x5xui8, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x5x12xi8, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %0 = tutti.transpose %x [0, 3, 1, 2] : tensor<?x3x4x5xui8, #tutti.sizes<batch>>
  %1 = tutti.cast %0 : tensor<?x5x3x4xui8, #tutti.sizes<batch>> -> tensor<?x5x3x4xi8, #tutti.sizes<batch>>
  %2 = tutti.reshape %1 : tensor<?x5x3x4xi8, #tutti.sizes<batch>> -> tensor<?x5x12xi8, #tutti.sizes<batch>>
  return %2 : tensor<?x5x12xi8, #tutti.sizes<batch>>
}
