// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vocabulary of kernel text. The same text is compiled by NVRTC for a GPU and by the host's compiler for the
// emulated device (test/emulated). Rules: one `__grid_constant__` parameter struct; shared memory by shared<T>(),
// global memory by Global<T>; CUDA's own names where there are any; every loop that waits does so by a function of the
// prelude; no asm outside these headers; a value of a view is given a type (`float v = x[i];`, never `auto`).
#pragma once

#include "tutti/async.cuh"
#include "tutti/barrier.cuh"
#include "tutti/base.cuh"
#include "tutti/bulk.cuh"
#include "tutti/cluster.cuh"
#include "tutti/half.cuh"
#include "tutti/memory.cuh"
#include "tutti/mma.cuh"
