// RUN: tutti-opt %s --split-input-file --verify-diagnostics

func.func @windows_axes(%x: tensor<64x2xf32>) {
  // expected-error@+1 {{'tutti.windows' expected a number for each of the image's 2 axes, got 1}}
  %0 = tutti.windows %x of [3] in [8, 8] count [4, 4] step [2, 2] gap [1, 1] before [1, 1] : tensor<64x2xf32>
  return
}

// -----

func.func @windows_numbers(%x: tensor<64x2xf32>) {
  // expected-error@+1 {{'tutti.windows' expected numbers from 1 to 1048576 (before: from 0), got 0}}
  %0 = tutti.windows %x of [3, 3] in [8, 8] count [4, 4] step [2, 0] gap [1, 1] before [1, 1] : tensor<64x2xf32>
  return
}

// -----

func.func @windows_many(%x: tensor<64x2xf32>) {
  // expected-error@+1 {{'tutti.windows' expected at most 33554432 elements in all windows}}
  %0 = tutti.windows %x of [1024] in [64] count [65536] step [1] gap [1] before [1] : tensor<64x2xf32>
  return
}

// -----

func.func @windows_image(%x: tensor<63x2xf32>) {
  // expected-error@+1 {{'tutti.windows' expected rows, an image of 64 elements, and channels, got (63, 2)}}
  %0 = tutti.windows %x of [3, 3] in [8, 8] count [4, 4] step [2, 2] gap [1, 1] before [1, 1] : tensor<63x2xf32>
  return
}
