// A block of transposed columns is copied at a time; what a step reads of a row that another step makes has to be all
// there, so where places other than its own are read the block is of whole rows.
// RUN: split-file %s %t
// RUN: tutti-compile %t/last.mlir --target cpu -o %t/last.tutti && tutti-verify %t/last.tutti %t/last.mlir
// RUN: %python %t/inputs.py %S/../tools %t
// RUN: tutti-compile %t/chosen.mlir --target cpu -o %t/chosen.tutti && tutti-verify %t/chosen.tutti %t/chosen.mlir --input x=%t/x.npy --input i=%t/i.npy

//--- last.mlir
func.func @main(%x: tensor<?x128x100xf32, #tutti.sizes<batch>> {tutti.name = "x"}) -> (tensor<?x100x128xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %t = tutti.transpose %x [0, 2, 1] : tensor<?x128x100xf32, #tutti.sizes<batch>>
  %v = tutti.tanh %t : tensor<?x100x128xf32, #tutti.sizes<batch>>
  %last = tutti.slice %v from [0, 0, 127] size [-1, 100, 1] step [1, 1, 1] : tensor<?x100x128xf32, #tutti.sizes<batch>>
  %y = tutti.sub %v, %last : tensor<?x100x128xf32, #tutti.sizes<batch>>, tensor<?x100x1xf32, #tutti.sizes<batch>>
  return %y : tensor<?x100x128xf32, #tutti.sizes<batch>>
}

//--- inputs.py
import struct, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from npyfile import save, save_raw

# Each row reads places all over itself, in either half, and none of them twice.
save_raw(Path(sys.argv[2], "i.npy"), "<i8", (1, 100, 128), struct.pack("<12800q", *(i * 37 % 128 for i in range(12800))))
save(Path(sys.argv[2], "x.npy"), (1, 128, 100), [i * 41 % 211 / 100 - 1 for i in range(12800)])

//--- chosen.mlir
func.func @main(%arg0: tensor<?x128x100xf32, #tutti.sizes<batch>> {tutti.name = "x"}, %arg1: tensor<?x100x128xi64, #tutti.sizes<batch>> {tutti.name = "i"}) -> (tensor<?x100x128xf32, #tutti.sizes<batch>> {tutti.name = "y"}) {
  %0 = tutti.transpose %arg0 [0, 2, 1] : tensor<?x128x100xf32, #tutti.sizes<batch>>
  %1 = tutti.tanh %0 : tensor<?x100x128xf32, #tutti.sizes<batch>>
  %2 = tutti.gather %1 at %arg1 axis 2 batch 2 : tensor<?x100x128xf32, #tutti.sizes<batch>>, tensor<?x100x128xi64, #tutti.sizes<batch>>
  %3 = tutti.sub %1, %2 : tensor<?x100x128xf32, #tutti.sizes<batch>>, tensor<?x100x128xf32, #tutti.sizes<batch>>
  return %3 : tensor<?x100x128xf32, #tutti.sizes<batch>>
}
