// RUN: tutti-opt %s --split-input-file --verify-diagnostics

func.func @get_nothing() {
  // expected-error@+1 {{'tutti.get' op expected the name of a tutti.param, got @w}}
  %0 = tutti.get @w : tensor<2xf32>
  return
}

// -----

tutti.param @w : tensor<2xf32>
func.func @get_shared_as_own() {
  // expected-error@+1 {{'tutti.get' op expected the type 'tensor<2xf32>' of parameter @w, got 'tensor<?x2xf32, #tutti.sizes<active>>'}}
  %0 = tutti.get @w : tensor<?x2xf32, #tutti.sizes<active>>
  return
}

// -----

tutti.param per_member @w : tensor<2xf32>
func.func @get_shape() {
  // expected-error@+1 {{'tutti.get' op expected the type 'tensor<2xf32>' of parameter @w, or it with the member axis in front, got 'tensor<3xf32>'}}
  %0 = tutti.get @w : tensor<3xf32>
  return
}

// -----

func.func @head_rank(%x: tensor<f32>) {
  // expected-error@+1 {{'tutti.head' expected at least 1 axes for mean, got ()}}
  %0 = tutti.head mean %x : tensor<f32>
  return
}

// -----

func.func @head_vote(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.head' expected at least 2 axes for vote, got (3)}}
  %0 = tutti.head vote %x : tensor<3xf32>
  return
}

// -----

func.func @head_elements(%x: tensor<3xsi8>) {
  // expected-error@+1 {{'tutti.head' expected elements of a float type or an integer, got 'si8'}}
  %0 = tutti.head max %x : tensor<3xsi8>
  return
}

// -----

func.func @head_members(%x: tensor<0xf32>) {
  // expected-error@+1 {{'tutti.head' expected at least one member, got (0)}}
  %0 = tutti.head max %x : tensor<0xf32>
  return
}

// -----

func.func @head_quantile(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.head' expected `at` a number for quantile and for no other kind, got quantile}}
  %0 = tutti.head quantile %x : tensor<3xf32>
  return
}

// -----

func.func @head_at(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.head' expected `at` a number for quantile and for no other kind, got mean}}
  %0 = tutti.head mean %x at 0.5 : tensor<3xf32>
  return
}

// -----

func.func @head_range(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.head' expected a quantile from 0 to 1, got 1.5}}
  %0 = tutti.head quantile %x at 1.5 : tensor<3xf32>
  return
}

// -----

func.func @replicate(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.replicate' op expected x's type 'tensor<3xf32>' with one axis more in front, got 'tensor<3x2xf32>'}}
  %0 = tutti.replicate %x : tensor<3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @vmap_callee(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.vmap' op expected the name of a function, got @f}}
  %0 = tutti.vmap @f(%x) in [0] out [0] size 3 : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @vmap_size(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.vmap' op expected a size of at least 1, got 0}}
  %0 = tutti.vmap @f(%x) in [0] out [0] size 0 : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @vmap_operands(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.vmap' op expected 1 operands and as many axes, as @f has, got 2 and 1}}
  %0 = tutti.vmap @f(%x, %x) in [0] out [0] size 3 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @vmap_axis(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.vmap' op expected axis 0 of operand 0 to have length 4, got 'tensor<3xf32>'}}
  %0 = tutti.vmap @f(%x) in [0] out [0] size 4 : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @vmap_inner(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{'tutti.vmap' op expected operand 0 of @f to be 'tensor<2xf32>', got 'tensor<f32>'}}
  %0 = tutti.vmap @f(%x) in [0] out [0] size 3 : (tensor<3x2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @vmap_out(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.vmap' op expected an axis for each result, got -1}}
  %0 = tutti.vmap @f(%x) in [0] out [-1] size 3 : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @map_counts(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.map' op expected one map and one argument of the body for each of 1 operands, got 0 and 1}}
  %0 = tutti.map %x [] : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    tutti.yield %a : f32
  }
  return
}

// -----

// expected-error@+1 {{'tutti.param' op @w: expected values of the type 'tensor<2xf32>', got 'tensor<3xf32>'}}
tutti.param @w : tensor<2xf32> {values = [dense<1.0> : tensor<2xf32>, dense<1.0> : tensor<3xf32>]}

// -----

// expected-error@+1 {{'tutti.param' op @w: expected values of the type 'tensor<2xf32>', got what has no elements}}
tutti.param @w : tensor<2xf32> {values = "ones"}

// -----

// expected-error@+1 {{'tutti.param' op @w: expected perm to be a permutation of 2 axes, got array<i64: 1, 1>}}
tutti.param @w : tensor<2x3xf32> {perm = array<i64: 1, 1>}

// -----

func.func @map_kind(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.map' op expected map 0 to be of sums, products, floordiv and mod by what is positive}}
  %0 = tutti.map %x [affine_map<(n) -> (n ceildiv 2)>] : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    tutti.yield %a : f32
  }
  return
}

// -----

func.func @map_divisor(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.map' op expected map 0 to be of sums, products, floordiv and mod by what is positive}}
  %0 = tutti.map %x [affine_map<(n) -> (n mod -2)>] : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    tutti.yield %a : f32
  }
  return
}

// -----

func.func @map_map(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.map' op expected map 0 to take 1 indices and up to 0 sizes to 1 indices}}
  %0 = tutti.map %x [affine_map<(i, j) -> (i)>] : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    tutti.yield %a : f32
  }
  return
}

// -----

func.func @map_argument(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.map' op expected argument 0 of the body to be 'f32', got 'f64'}}
  %0 = tutti.map %x [affine_map<(i) -> (i)>] : (tensor<2xf32>) -> tensor<2xf64> {
  ^bb0(%a: f64):
    tutti.yield %a : f64
  }
  return
}

// -----

func.func @map_yield(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.map' op expected the body to yield one 'f64'}}
  %0 = tutti.map %x [affine_map<(i) -> (i)>] : (tensor<2xf32>) -> tensor<2xf64> {
  ^bb0(%a: f32):
    tutti.yield %a : f32
  }
  return
}

// -----

func.func @map_leaves(%x: tensor<?x16xf32, #tutti.sizes<batch>>) {
  // expected-error@+1 {{'tutti.map' op expected map 0 to stay inside axis 1 of 'tensor<?x16xf32, #tutti.sizes<batch>>'}}
  %0 = tutti.map %x [affine_map<(n, i) -> (n, i + 4)>] : (tensor<?x16xf32, #tutti.sizes<batch>>) -> tensor<?x16xf32, #tutti.sizes<batch>> {
  ^bb0(%a: f32):
    tutti.yield %a : f32
  }
  return
}

// -----

func.func @behind_the_batch(%x: tensor<?x3xf32, #tutti.sizes<batch>>) {
  // expected-error@+1 {{'tutti.map' op expected map 0 to stay inside axis 0 of 'tensor<?x3xf32, #tutti.sizes<batch>>'}}
  %0 = tutti.map %x [affine_map<(b, n) -> (b + 1, n)>] : (tensor<?x3xf32, #tutti.sizes<batch>>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
  ^bb0(%e: f32):
    tutti.yield %e : f32
  }
  return
}

// -----

func.func @another_size(%x: tensor<?x3xf32, #tutti.sizes<batch>>) {
  // expected-error@+1 {{'tutti.map' op expected map 0 to stay inside axis 0 of 'tensor<?x3xf32, #tutti.sizes<batch>>'}}
  %0 = tutti.map %x [affine_map<(s, n) -> (s, n)>] : (tensor<?x3xf32, #tutti.sizes<batch>>) -> tensor<?x3xf32, #tutti.sizes<sequence>> {
  ^bb0(%e: f32):
    tutti.yield %e : f32
  }
  return
}

// -----

func.func @behind_a_multiple(%x: tensor<?x3xf32, #tutti.sizes<4*batch>>) {
  // expected-error@+1 {{'tutti.map' op expected map 0 to stay inside axis 0 of 'tensor<?x3xf32, #tutti.sizes<4*batch>>'}}
  %0 = tutti.map %x [affine_map<(b, n) -> (b + 4, n)>] : (tensor<?x3xf32, #tutti.sizes<4*batch>>) -> tensor<?x3xf32, #tutti.sizes<batch>> {
  ^bb0(%e: f32):
    tutti.yield %e : f32
  }
  return
}

// -----

func.func @vote_of_no_scores(%x: tensor<2x3x0xf32>) {
  // expected-error@+1 {{'tutti.head' expected at least one score to vote by, got (2, 3, 0)}}
  %0 = tutti.head vote %x : tensor<2x3x0xf32>
  return
}

// -----

func.func @part_of_no_group(%x: tensor<?x3xf32, #tutti.sizes<active>>) {
  // expected-error@+1 {{'tutti.part' op expected a group's part of 'tensor<?x3xf32, #tutti.sizes<active>>', got 'tensor<?x3xf32, #tutti.sizes<active>>'}}
  %0 = tutti.part %x : tensor<?x3xf32, #tutti.sizes<active>> -> tensor<?x3xf32, #tutti.sizes<active>>
  return
}

// -----

func.func @part_of_another_shape(%x: tensor<?x3xf32, #tutti.sizes<active>>) {
  // expected-error@+1 {{'tutti.part' op expected a group's part of}}
  %0 = tutti.part %x : tensor<?x3xf32, #tutti.sizes<active>> -> tensor<?x4xf32, #tutti.sizes<active.1>>
  return
}

// -----

func.func @join_out_of_order(%x: tensor<?x3xf32, #tutti.sizes<active.1>>, %y: tensor<?x3xf32, #tutti.sizes<active.0>>) {
  // expected-error@+1 {{'tutti.join' op expected group 0's part of 'tensor<?x3xf32, #tutti.sizes<active>>', got 'tensor<?x3xf32, #tutti.sizes<active.1>>'}}
  %0 = tutti.join %x, %y : tensor<?x3xf32, #tutti.sizes<active.1>>, tensor<?x3xf32, #tutti.sizes<active.0>> -> tensor<?x3xf32, #tutti.sizes<active>>
  return
}
