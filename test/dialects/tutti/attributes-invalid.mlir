// RUN: tutti-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected 'tutti.members' to be a 64-bit number, 1 or more}}
module attributes {tutti.members = "ten"} {}

// -----

// expected-error@+1 {{expected 'tutti.sizes' to be the range of each size, as in {batch = array<i64: 1, 64>}}}
module attributes {tutti.sizes = {batch = 3 : i64}} {}

// -----

// expected-error@+1 {{expected 'tutti.sizes' to be the range of each size}}
module attributes {tutti.sizes = {batch = array<i64: 1>}} {}

// -----

// expected-error@+1 {{expected 'tutti.sizes' to be the range of each size}}
module attributes {tutti.sizes = {batch = array<i64: 64, 1>}} {}

// -----

// expected-error@+1 {{expected 'tutti.groups' to be the members of each group}}
module attributes {tutti.groups = [1]} {}

// -----

// expected-error@+1 {{expected 'tutti.chunk' to be a 64-bit number, 1 or more}}
module attributes {tutti.chunk = 0 : i64} {}

// -----

// expected-error@+1 {{expected 'tutti.scratch_per_row' to be a 64-bit number, 0 or more}}
module attributes {tutti.scratch_per_row = 4 : i32} {}

// -----

// expected-error@+1 {{expected 'tutti.target' to be a target, as in #tutti<target cuda>}}
module attributes {tutti.target = "cuda"} {}

// -----

// expected-error@+1 {{expected 'tutti.precision' to be a precision, as in #tutti<precision bf16>}}
module attributes {tutti.precision = "bf16"} {}

// -----

// expected-error@+1 {{'tutti.member' is no attribute of a module}}
module attributes {tutti.member = 3 : i64} {}

// -----

// expected-error@+1 {{'tutti.members' is no attribute of 'func.func'}}
func.func private @f() attributes {tutti.members = 3 : i64}

// -----

// expected-error@+1 {{expected 'tutti.name' to be a string that is not empty, got 1 : i64}}
func.func private @f(tensor<2xf32> {tutti.name = 1})

// -----

// expected-error@+1 {{expected 'tutti.per_member' to be without a value}}
func.func private @f(tensor<2xf32> {tutti.per_member = true})

// -----

// expected-error@+1 {{'tutti.heads' is no attribute of an input}}
func.func private @f(tensor<2xf32> {tutti.heads = ["mean"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got [1]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = [1]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["median"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["median"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["quantile:2"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["quantile:2"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["quantile:nan"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["quantile:nan"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["quantile:"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["quantile:"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["quantile:-0.1"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["quantile:-0.1"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["quantile:0.5x"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["quantile:0.5x"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["quantile"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["quantile"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["mean:1"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["mean:1"]})

// -----

// expected-error@+1 {{expected 'tutti.heads' to be a list of heads (members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1), got ["members:"]}}
func.func private @f() -> (tensor<2xf32> {tutti.heads = ["members:"]})

// -----

// expected-error@+1 {{expected 'tutti.head' to be a head}}
func.func private @f() -> (tensor<2xf32> {tutti.head = ""})

// -----

// expected-error@+1 {{expected 'tutti.name' to be a string that is not empty, got ""}}
func.func private @f() -> (tensor<2xf32> {tutti.name = ""})

// -----

// expected-error@+1 {{expected 'tutti.groups' to be the members of each group, each once}}
module attributes {tutti.members = 2 : i64, tutti.groups = [array<i64: 0, 0>]} {}

// -----

// expected-error@+1 {{expected 'tutti.groups' to be the members of each group, each once}}
module attributes {tutti.members = 2 : i64, tutti.groups = [array<i64: 0>, array<i64: 2>]} {}

// -----

// expected-error@+1 {{'tutti.per_member' is no attribute of an output}}
func.func private @f() -> (tensor<2xf32> {tutti.per_member})

// -----

func.func @rule(%x: tensor<4x4xf32>) {
  // expected-error@+2 {{expected ::tutti::NumericsRule to be one of: panels, lanes, chain}}
  // expected-error@+1 {{failed to parse Tutti_NumericsAttr parameter 'rule'}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<rule = tiles, chunk = 4> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @product(%x: tensor<4x4xf32>) {
  // expected-error@+2 {{expected ::tutti::NumericsProduct to be one of: fma, tf32x3, tf32, bf16, f16}}
  // expected-error@+1 {{failed to parse Tutti_NumericsAttr parameter 'product'}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<rule = panels, chunk = 4, product = fp8> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @no_rule(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{struct is missing required parameter: rule}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<chunk = 4> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @chunk_number(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected '>'}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<rule = chain, chunk = all> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @negative_chunk(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected a chunk of 0 or more, got -1}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<rule = chain, chunk = -1> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @dictionary(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'tutti.contract' op attribute 'numerics' failed to satisfy constraint: what decides the bits of a sum or a choice}}
  %0 = tutti.contract %x, %x "bk,kn->bn" {numerics = {rule = "panels"}} : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @product_of_chain(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected the rule panels with the product bf16, got chain}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<rule = chain, chunk = 4, product = bf16> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @chunk_of_lanes(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected no chunk of the rule lanes, got 4}}
  %0 = tutti.reduce sum %x [1] numerics<rule = lanes, chunk = 4> : tensor<4x4xf32>
  return
}

// -----

func.func @contract_lanes(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'tutti.contract' op expected the rule panels or chain, got lanes}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<rule = lanes> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @contract_without_chunk(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'tutti.contract' op expected numerics with a chunk}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<rule = panels> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @no_chunks(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'tutti.contract' op expected a chunk of 1 or more where there are terms}}
  %0 = tutti.contract %x, %x "bk,kn->bn" numerics<rule = chain, chunk = 0> : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @contract_of_no_rows(%a: tensor<f32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{'tutti.contract' op expected the rule chain, as ",k->k" is not rows times a weight}}
  %0 = tutti.contract %a, %w ",k->k" numerics<rule = panels, chunk = 1> : tensor<f32>, tensor<4xf32>
  return
}

// -----

func.func @reduce_panels(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'tutti.reduce' op expected the rule lanes or chain, got panels}}
  %0 = tutti.reduce sum %x [1] numerics<rule = panels> : tensor<4x4xf32>
  return
}

// -----

func.func @arg_chunk(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{'tutti.arg' op expected numerics without a chunk}}
  %0 = tutti.arg max %x axis 0 numerics<rule = chain, chunk = 4> : tensor<4x4xf32>
  return
}

// -----

func.func @labels_0(%x: tensor<4x4xf32>) {
  // expected-error@+2 {{'tutti.contract' expected labels such as}}
  // expected-error@+1 {{'tutti.contract' op failed to infer returned types}}
  %0 = "tutti.contract"(%x, %x) <{spec = "bk", numerics = #tutti.numerics<rule = panels, chunk = 4>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @labels_1(%x: tensor<4x4xf32>) {
  // expected-error@+2 {{'tutti.contract' expected labels such as}}
  // expected-error@+1 {{'tutti.contract' op failed to infer returned types}}
  %0 = "tutti.contract"(%x, %x) <{spec = "bkz,kn->bn", numerics = #tutti.numerics<rule = chain, chunk = 0>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @labels_2(%x: tensor<4x4xf32>) {
  // expected-error@+2 {{'tutti.contract' expected labels such as}}
  // expected-error@+1 {{'tutti.contract' op failed to infer returned types}}
  %0 = "tutti.contract"(%x, %x) <{spec = "b1,kn->bn", numerics = #tutti.numerics<rule = chain, chunk = 0>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @labels_3(%x: tensor<4x4xf32>) {
  // expected-error@+2 {{'tutti.contract' expected labels such as}}
  // expected-error@+1 {{'tutti.contract' op failed to infer returned types}}
  %0 = "tutti.contract"(%x, %x) <{spec = "", numerics = #tutti.numerics<rule = chain, chunk = 0>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
