// RUN: tutti-opt %s --tutti-parallel --split-input-file --verify-diagnostics

// Rows stay rows: nothing to say.
func.func @main(%x: tensor<?x2x6xf32, #tutti.sizes<batch>>, %i: tensor<4xi64>) -> tensor<2x3x?xf32, #tutti.sizes<batch>> {
  %0 = tutti.reshape %x : tensor<?x2x6xf32, #tutti.sizes<batch>> -> tensor<?x6xf32, #tutti.sizes<2*batch>>
  %1 = tutti.reduce sum %0 [1] : tensor<?x6xf32, #tutti.sizes<2*batch>>
  %2 = tutti.reshape %1 : tensor<?x1xf32, #tutti.sizes<2*batch>> -> tensor<?x2x1xf32, #tutti.sizes<batch>>
  %3 = tutti.gather %2 at %i axis 2 : tensor<?x2x1xf32, #tutti.sizes<batch>>, tensor<4xi64>
  %4 = tutti.slice %3 from [0, 0, 0] size [-1, 2, 3] step [1, 1, 1] : tensor<?x2x4xf32, #tutti.sizes<batch>>
  %5 = tutti.transpose %4 [1, 2, 0] : tensor<?x2x3xf32, #tutti.sizes<batch>>
  return %5 : tensor<2x3x?xf32, #tutti.sizes<batch>>
}

// -----

func.func @main(%x: tensor<?x6xf32, #tutti.sizes<batch>>) -> tensor<1x6xf32> {
  // expected-error@+1 {{'tutti.reduce' op is not parallel along the dimension 'batch', whose length each call decides; bind it to one value with --dim}}
  %0 = tutti.reduce sum %x [0] : tensor<?x6xf32, #tutti.sizes<batch>>
  return %0 : tensor<1x6xf32>
}

// -----

func.func @main(%x: tensor<?x6xf32, #tutti.sizes<batch>>, %y: tensor<?x3xf32, #tutti.sizes<batch>>) -> tensor<6x3xf32> {
  // expected-error@+1 {{'tutti.contract' op is not parallel along the dimension 'batch'}}
  %0 = tutti.contract %x, %y "bi,bj->ij" : tensor<?x6xf32, #tutti.sizes<batch>>, tensor<?x3xf32, #tutti.sizes<batch>>
  return %0 : tensor<6x3xf32>
}

// -----

func.func @main(%x: tensor<?x6xf32, #tutti.sizes<batch>>) -> tensor<?x6xf32, #tutti.sizes<2*batch>> {
  // expected-error@+1 {{'tutti.concat' op is not parallel along the dimension 'batch'}}
  %0 = tutti.concat %x, %x axis 0 : tensor<?x6xf32, #tutti.sizes<batch>>, tensor<?x6xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x6xf32, #tutti.sizes<2*batch>>
}

// -----

func.func @main(%x: tensor<?x6xf32, #tutti.sizes<batch>>, %i: tensor<2xi64>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'tutti.gather' op is not parallel along the dimension 'batch'}}
  %0 = tutti.gather %x at %i axis 0 : tensor<?x6xf32, #tutti.sizes<batch>>, tensor<2xi64>
  return %0 : tensor<2x6xf32>
}

// -----

// Elements of one result row would come from several rows.
func.func @main(%x: tensor<4x?xf32, #tutti.sizes<batch>>) -> tensor<?x4xf32, #tutti.sizes<batch>> {
  // expected-error@+1 {{'tutti.reshape' op is not parallel along the dimension '4*batch'}}
  %0 = tutti.reshape %x : tensor<4x?xf32, #tutti.sizes<batch>> -> tensor<?x4xf32, #tutti.sizes<batch>>
  return %0 : tensor<?x4xf32, #tutti.sizes<batch>>
}

// -----

func.func @main(%x: tensor<4x3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{'tutti.head' op expected the member axis in front, got 'tensor<4x3xf32>'}}
  %0 = tutti.head mean %x : tensor<4x3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @main(%x: tensor<3x6xf32>, %i: tensor<3x?xi64, #tutti.sizes<batch>>, %u: tensor<3x?xf32, #tutti.sizes<batch>>) -> tensor<3x6xf32> {
  // expected-error@+1 {{'tutti.scatter' op is not parallel along the dimension 'batch'}}
  %0 = tutti.scatter set %x at %i with %u : tensor<3x6xf32>, tensor<3x?xi64, #tutti.sizes<batch>>, tensor<3x?xf32, #tutti.sizes<batch>>
  return %0 : tensor<3x6xf32>
}

// -----

// An op that does not say where it is parallel is not taken to be.
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{'tutti.vmap' op does not say along which axes it is parallel: --tutti-vmap comes before this pass}}
  %0 = tutti.vmap @f(%x) in [0] out [0] size 2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Members vote on which of a row's classes it is.
func.func @main(%x: tensor<?x?xf32, #tutti.sizes<active, batch>>) -> tensor<i64> {
  // expected-error@+1 {{'tutti.head' op votes along the dimension 'batch', whose length each call decides: the last axis of a vote's output is its classes}}
  %0 = tutti.head vote %x : tensor<?x?xf32, #tutti.sizes<active, batch>>
  return %0 : tensor<i64>
}
