// RUN: tutti-opt %s --split-input-file --verify-diagnostics

func.func @add_shapes(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.add' expected shapes that broadcast, got (2, 3) and (2)}}
  %0 = tutti.add %x, %y : tensor<2x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @add_sizes(%x: tensor<?xf32, #tutti.sizes<batch>>, %y: tensor<?xf32, #tutti.sizes<rows>>) {
  // expected-error@+1 {{'tutti.add' expected shapes that broadcast, got (batch) and (rows)}}
  %0 = tutti.add %x, %y : tensor<?xf32, #tutti.sizes<batch>>, tensor<?xf32, #tutti.sizes<rows>>
  return
}

// -----

func.func @add_elements(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{'tutti.add' expected equal element types, got 'f32' and 'f64'}}
  %0 = tutti.add %x, %y : tensor<2xf32>, tensor<2xf64>
  return
}

// -----

func.func @add_truths(%x: tensor<2xi1>) {
  // expected-error@+1 {{'tutti.add' expected elements of a float type or an integer wider than i1, got 'i1'}}
  %0 = tutti.add %x, %x : tensor<2xi1>, tensor<2xi1>
  return
}

// -----

func.func @exp_integers(%x: tensor<2xi32>) {
  // expected-error@+1 {{'tutti.exp' expected elements of a float type, got 'i32'}}
  %0 = tutti.exp %x : tensor<2xi32>
  return
}

// -----

func.func @not_floats(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.not' expected elements of an integer type, got 'f32'}}
  %0 = tutti.not %x : tensor<2xf32>
  return
}

// -----

func.func @greater_signed(%x: tensor<2xsi8>) {
  // expected-error@+1 {{'tutti.greater' expected elements of a float type or an integer, got 'si8'}}
  %0 = tutti.greater %x, %x : tensor<2xsi8>, tensor<2xsi8>
  return
}

// -----

func.func @select_condition(%c: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.select' expected elements of i1 in the condition, got 'f32'}}
  %0 = tutti.select %c, %c, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @select_elements(%c: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error@+1 {{'tutti.select' expected equal element types, got 'f32' and 'i32'}}
  %0 = tutti.select %c, %a, %b : tensor<i1>, tensor<2xf32>, tensor<2xi32>
  return
}

// -----

func.func @add_result(%x: tensor<2xf32>) {
  // expected-error@+2 {{'tutti.add' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{'tutti.add' op failed to infer returned types}}
  %0 = "tutti.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @cast_shape(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.cast' op expected a result of the shape (2) of x, got (3)}}
  %0 = tutti.cast %x : tensor<2xf32> -> tensor<3xf64>
  return
}

// -----

func.func @cast_signed(%x: tensor<2xsi8>) {
  // expected-error@+1 {{'tutti.cast' op operand #0 must be a ranked tensor of floats, integers of 8 to 64 bits or i1, of which the encoding has the size of each '?', but got 'tensor<2xsi8>'}}
  %0 = tutti.cast %x : tensor<2xsi8> -> tensor<2xf32>
  return
}

// -----

func.func @contract_spec(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.contract' expected labels such as "bk,kn->bn", each a letter that occurs once in an operand, those of one operand alone in the result too, got "bk,kn->b"}}
  %0 = tutti.contract %x, %x "bk,kn->b" : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @contract_rank(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.contract' expected 3 axes of rhs for labels "mkn", got (2, 3)}}
  %0 = tutti.contract %x, %x "bk,mkn->mbn" : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @contract_size(%x: tensor<2x3xf32>, %w: tensor<4x5xf32>) {
  // expected-error@+1 {{'tutti.contract' expected size 3 for label k of rhs as in lhs, got 4}}
  %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<2x3xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @contract_elements(%x: tensor<2x3xf32>, %w: tensor<3x5xf64>) {
  // expected-error@+1 {{'tutti.contract' expected equal element types, got 'f32' and 'f64'}}
  %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<2x3xf32>, tensor<3x5xf64>
  return
}

// -----

func.func @contract_truths(%x: tensor<2x2xi1>) {
  // expected-error@+1 {{'tutti.contract' expected elements of a float type or an integer wider than i1, got 'i1'}}
  %0 = tutti.contract %x, %x "bk,kn->bn" : tensor<2x2xi1>, tensor<2x2xi1>
  return
}

// -----

func.func @reduce_axes(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.reduce' expected distinct ascending axes of (2, 3), got axis 0 after 1}}
  %0 = tutti.reduce sum %x [1, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @reduce_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.reduce' expected distinct ascending axes of (2, 3), got axis 2 after -1}}
  %0 = tutti.reduce sum %x [2] : tensor<2x3xf32>
  return
}

// -----

func.func @reduce_mean(%x: tensor<2xi32>) {
  // expected-error@+1 {{'tutti.reduce' expected elements of a float type for a mean, got 'i32'}}
  %0 = tutti.reduce mean %x [0] : tensor<2xi32>
  return
}

// -----

func.func @reduce_truths(%x: tensor<2xi1>) {
  // expected-error@+1 {{'tutti.reduce' expected elements of a float type or an integer wider than i1, got 'i1'}}
  %0 = tutti.reduce max %x [0] : tensor<2xi1>
  return
}

// -----

func.func @reduce_nothing(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{'tutti.reduce' expected at least one element along axis 1, got (2, 0)}}
  %0 = tutti.reduce mean %x [1] : tensor<2x0xf32>
  return
}

// -----

func.func @arg_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.arg' expected an axis of (2, 3), got 2}}
  %0 = tutti.arg max %x axis 2 : tensor<2x3xf32>
  return
}

// -----

func.func @arg_of_nothing(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{'tutti.arg' expected at least one element along axis 1, got (2, 0)}}
  %0 = tutti.arg max %x axis 1 : tensor<2x0xf32>
  return
}

// -----

func.func @scan_truths(%x: tensor<2xi1>) {
  // expected-error@+1 {{'tutti.scan' expected elements of a float type or an integer wider than i1, got 'i1'}}
  %0 = tutti.scan sum %x : tensor<2xi1>
  return
}

// -----

func.func @scan_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'tutti.scan' expected at least one axis, got 'tensor<f32>'}}
  %0 = tutti.scan sum %x : tensor<f32>
  return
}

// -----

func.func @scan_step(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.scan' expected a step that divides the last axis of (2, 3), got 2}}
  %0 = tutti.scan sum %x step 2 : tensor<2x3xf32>
  return
}

// -----

func.func @top_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.top' expected a count from 1 to the length of the last axis of (2, 3), got 4}}
  %0 = tutti.top 4 of %x : tensor<2x3xf32>
  return
}

// -----

func.func @reshape_count(%x: tensor<?x3xf32, #tutti.sizes<batch>>) {
  // expected-error@+1 {{'tutti.reshape' op expected as many elements as x (batch, 3) has, got (4*batch)}}
  %0 = tutti.reshape %x : tensor<?x3xf32, #tutti.sizes<batch>> -> tensor<?xf32, #tutti.sizes<4*batch>>
  return
}

// -----

func.func @reshape_elements(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.reshape' op expected a result of x's element type 'f32', got 'i32'}}
  %0 = tutti.reshape %x : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @broadcast_shape(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.broadcast' op expected a shape that x (2, 3) broadcasts to, got (2, 4)}}
  %0 = tutti.broadcast %x : tensor<2x3xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @broadcast_elements(%x: tensor<1xf32>) {
  // expected-error@+1 {{'tutti.broadcast' op expected a result of x's element type 'f32', got 'f64'}}
  %0 = tutti.broadcast %x : tensor<1xf32> -> tensor<2xf64>
  return
}

// -----

func.func @transpose_permutation(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.transpose' expected a permutation of the 2 axes of x, got [0, 0]}}
  %0 = tutti.transpose %x [0, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @slice_rank(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.slice' expected a start, a size and a step for each of 2 axes, got 2, 1 and 2}}
  %0 = tutti.slice %x from [0, 0] size [1] step [1, 1] : tensor<2x3xf32>
  return
}

// -----

func.func @slice_range(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.slice' expected elements within axis 1 of size 3, got start 1, size 3, step 1}}
  %0 = tutti.slice %x from [0, 1] size [1, 3] step [1, 1] : tensor<2x3xf32>
  return
}

// -----

func.func @slice_overflow(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tutti.slice' expected elements within axis 0 of size 3}}
  %0 = tutti.slice %x from [0] size [5] step [4611686018427387904] : tensor<3xf32>
  return
}

// -----

func.func @slice_symbol(%x: tensor<?xf32, #tutti.sizes<batch>>) {
  // expected-error@+1 {{'tutti.slice' expected axis 0 of size batch to be taken whole (start 0, size -1, step 1), got start 0, size 1, step 1}}
  %0 = tutti.slice %x from [0] size [1] step [1] : tensor<?xf32, #tutti.sizes<batch>>
  return
}

// -----

func.func @concat_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.concat' expected an axis of the operands (2), got 1}}
  %0 = tutti.concat %x, %x axis 1 : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @concat_vector(%x: tensor<2xf32>, %y: vector<2xf32>) {
  // expected-error@+1 {{'tutti.concat' expected ranked tensors, got 'vector<2xf32>'}}
  %0 = tutti.concat %x, %y axis 0 : tensor<2xf32>, vector<2xf32>
  return
}

// -----

func.func @concat_nothing() {
  // expected-error@+2 {{'tutti.concat' expected at least one operand}}
  // expected-error@+1 {{'tutti.concat' op failed to infer returned types}}
  %0 = "tutti.concat"() {axis = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @concat_shapes(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+1 {{'tutti.concat' expected shapes that are equal but for axis 1, got (2, 3) and (3, 3)}}
  %0 = tutti.concat %x, %y axis 1 : tensor<2x3xf32>, tensor<3x3xf32>
  return
}

// -----

func.func @concat_elements(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error@+1 {{'tutti.concat' expected equal element types, got 'f32' and 'i32'}}
  %0 = tutti.concat %x, %y axis 0 : tensor<2xf32>, tensor<2xi32>
  return
}

// -----

func.func @gather_indices(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tutti.gather' expected indices of a signless integer type wider than i1, got 'f32'}}
  %0 = tutti.gather %x at %x axis 0 : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @gather_axis(%x: tensor<2xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'tutti.gather' expected 0 <= batch <= axis < 1 and batch <= 1, got batch 0 and axis 1}}
  %0 = tutti.gather %x at %i axis 1 : tensor<2xf32>, tensor<3xi64>
  return
}

// -----

func.func @gather_batch(%x: tensor<2x5xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'tutti.gather' expected the first 1 sizes of x, (2, 5), and of indices, (3), to be equal}}
  %0 = tutti.gather %x at %i axis 1 batch 1 : tensor<2x5xf32>, tensor<3xi64>
  return
}

// -----

func.func @gather_nothing(%x: tensor<0xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'tutti.gather' expected at least one element along axis 0 of x, got (0)}}
  %0 = tutti.gather %x at %i axis 0 : tensor<0xf32>, tensor<3xi64>
  return
}

// -----

func.func @scatter_indices(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.scatter' expected indices of a signless integer type wider than i1, got 'f32'}}
  %0 = tutti.scatter set %x at %x with %x : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @scatter_element(%x: tensor<2x3xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{'tutti.scatter' expected updates of x's element type 'f32', got 'i64'}}
  %0 = tutti.scatter set %x at %i with %i : tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x1xi64>
  return
}

// -----

func.func @scatter_numbers(%x: tensor<2x3xi1>, %i: tensor<2x1xi64>, %u: tensor<2x1xi1>) {
  // expected-error@+1 {{'tutti.scatter' expected numbers to combine, got elements of type 'i1'}}
  %0 = tutti.scatter add %x at %i with %u : tensor<2x3xi1>, tensor<2x1xi64>, tensor<2x1xi1>
  return
}

// -----

func.func @scatter_updates(%x: tensor<2x3xf32>, %i: tensor<2x1xi64>, %u: tensor<2x2xf32>) {
  // expected-error@+1 {{'tutti.scatter' expected an index for each update (2, 2), got (2, 1)}}
  %0 = tutti.scatter set %x at %i with %u : tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x2xf32>
  return
}

// -----

func.func @scatter_rows(%x: tensor<2x3xf32>, %i: tensor<3x1xi64>, %u: tensor<3x1xf32>) {
  // expected-error@+1 {{'tutti.scatter' expected the rows of x (2, 3) and of indices (3, 1) to be equal}}
  %0 = tutti.scatter set %x at %i with %u : tensor<2x3xf32>, tensor<3x1xi64>, tensor<3x1xf32>
  return
}

// -----

func.func @scatter_nothing(%x: tensor<2x0xf32>, %i: tensor<2x1xi64>, %u: tensor<2x1xf32>) {
  // expected-error@+1 {{'tutti.scatter' expected at least one element along the last axis of x, got (2, 0)}}
  %0 = tutti.scatter set %x at %i with %u : tensor<2x0xf32>, tensor<2x1xi64>, tensor<2x1xf32>
  return
}

// -----

func.func @scatter_blocks(%x: tensor<2x7xf32>, %i: tensor<2x1xi64>, %u: tensor<2x3xf32>) {
  // expected-error@+1 {{'tutti.scatter' expected rows of blocks of 3 elements, got x (2, 7) and updates (2, 3)}}
  %0 = tutti.scatter set %x at %i with %u width 3 : tensor<2x7xf32>, tensor<2x1xi64>, tensor<2x3xf32>
  return
}

// -----

func.func private @f(f32) -> f32
func.func @map_of_a_call(%x: tensor<3xf32>) {
  %0 = tutti.map %x [affine_map<(i) -> (i)>] : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: f32):
    // expected-error@+1 {{'func.call' op is no op that the body of a map is made of, expected constants and functions of scalars}}
    %b = func.call @f(%a) : (f32) -> f32
    tutti.yield %b : f32
  }
  return
}

// -----

func.func @map_of_vectors(%x: tensor<3xf32>) {
  %0 = tutti.map %x [affine_map<(i) -> (i)>] : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: f32):
    // expected-error@+1 {{'arith.constant' op is no op that the body of a map is made of}}
    %b = arith.constant dense<1.0> : vector<4xf32>
    tutti.yield %a : f32
  }
  return
}

// -----

func.func @yield_of_a_function(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{'tutti.yield' op expected to end the body of a tutti.map or a plan.kernel}}
  tutti.yield %x : tensor<3xf32>
}
