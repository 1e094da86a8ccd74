// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the model, branches, loops and sequences, and indices that are known.
#include "FileFixture.h"

namespace tutti::test {
namespace {

class WalkTest : public FileTest {
protected:
  /// A function of one input x and one output y.
  onnx::FunctionProto &function(const std::string &name) {
    onnx::FunctionProto &function = *model.add_functions();
    function.set_name(name);
    function.set_domain("own");
    function.add_input("x");
    function.add_output("y");
    function.add_opset_import()->set_version(18);
    return function;
  }
  static onnx::NodeProto &inside(onnx::FunctionProto &function, const std::string &op, const std::string &from,
                                 const std::string &to, const std::string &domain = "") {
    onnx::NodeProto &node = *function.add_node();
    node.set_op_type(op);
    node.set_name("inner_" + op);
    node.set_domain(domain);
    node.add_input(from);
    node.add_output(to);
    return node;
  }
  void callOf(const std::string &name) {
    input("x", {std::string("N"), 4});
    node(name, {"x"}, {"y"}).set_domain("own");
    output("y");
  }
};

TEST_F(WalkTest, FunctionsAreInlinedUnderTheirOwnNames) {
  callOf("Twice");
  onnx::FunctionProto &twice = function("Twice"), &once = function("Once");
  inside(twice, "Once", "x", "t", "own");
  inside(twice, "Once", "t", "y", "own");
  inside(once, "Exp", "x", "y");
  llvm::Expected<MemberModel> member = importOnnx(context, save(), {});
  ASSERT_TRUE(bool(member)) << llvm::toString(member.takeError());
  EXPECT_EQ(countOps(*member->module, "tutti.exp"), 2u);
  mainOf(*member->module).walk([&](ExpOp op) {
    EXPECT_EQ(describe(op.getLoc()), "node 'the_Twice/inner_Once/inner_Exp' (Exp)");
  });
}

TEST_F(WalkTest, ProblemsInFunctionsNameTheWay) {
  callOf("Outer");
  inside(function("Outer"), "Det", "x", "y");
  expectFailure(4, {"Det", "'the_Outer/inner_Det'", "(N, 4)"});
  model.clear_functions();
  inside(function("Outer"), "Exp", "nowhere", "y");
  expectFailure(3, {"'the_Outer/inner_Exp'", "'nowhere'"});
  model.clear_functions();
  function("Outer").add_node()->set_op_type("Exp"); // computes no y
  expectFailure(3, {"'Outer'", "'y'"});
  model.clear_functions();
  inside(function("Outer"), "Exp", "x", "y");
  graph().mutable_node(0)->add_input("x");
  expectFailure(3, {"'Outer'", "1 inputs", "given 2"});
}

TEST_F(WalkTest, FunctionsThatCallThemselves) {
  callOf("A");
  inside(function("A"), "B", "x", "y", "own");
  inside(function("B"), "A", "x", "y", "own");
  expectFailure(3, {"'A'", "calls itself"});
}

TEST_F(WalkTest, FunctionsThatNestOrGrowWithoutEnd) {
  callOf("F0");
  for (int i = 0; i < 70; ++i)
    inside(function("F" + std::to_string(i)), "F" + std::to_string(i + 1), "x", "y", "own");
  expectFailure(4, {"through more than 64"});
  model.clear_functions();
  for (int i = 0; i < 60; ++i) {
    onnx::FunctionProto &f = function("F" + std::to_string(i));
    std::string next = "F" + std::to_string(i + 1);
    inside(f, next, "x", "t", "own");
    inside(f, next, "t", "y", "own");
  }
  inside(function("F60"), "Exp", "x", "y");
  expectFailure(4, {"500000 nodes"});
  // A long name is looked up at each of 2^10 calls.
  model.clear_functions();
  for (int i = 0; i < 10; ++i) {
    onnx::FunctionProto &f = function("F" + std::to_string(i));
    std::string next = "F" + std::to_string(i + 1);
    inside(f, next, "x", "t", "own");
    inside(f, next, "t", "y", "own");
  }
  std::string name(1 << 18, 't');
  inside(function("F10"), "Exp", "x", name);
  inside(*model.mutable_functions(10), "Neg", name, "y");
  expectFailure(4, {"512 MiB of functions", "at each call"});
}

TEST_F(WalkTest, FunctionsOfAnotherOpset) {
  callOf("F");
  onnx::FunctionProto &f = function("F");
  inside(f, "Gelu", "x", "y");
  expectFailure(4, {"Gelu", "opset 18", "came with opset 20"});
  f.mutable_opset_import(0)->set_version(20);
  EXPECT_EQ(failure().code, 0);
  f.mutable_opset_import(0)->set_version(99);
  expectFailure(4, {"'F'", "opset 99"});
}

/// A branch of one node that reads x.
static onnx::NodeProto &addBranch(onnx::NodeProto &choice, const char *name, const char *op) {
  onnx::AttributeProto &branch = *choice.add_attribute();
  branch.set_name(name);
  branch.set_type(onnx::AttributeProto::GRAPH);
  onnx::NodeProto &inner = *branch.mutable_g()->add_node();
  inner.set_op_type(op);
  inner.add_input("x");
  inner.add_output("inner");
  branch.mutable_g()->add_output()->set_name("inner");
  return inner;
}

TEST_F(WalkTest, ConditionsThatAreKnownNeedTheirBranch) {
  input("x", {4});
  onnx::NodeProto &choice = node("If", {"c"}, {"y"});
  output("y");
  onnx::TensorProto &c = tensor("c", {});
  c.set_data_type(9);
  c.add_int32_data(1);
  expectFailure(3, {"the_If", "'then_branch'"});
  onnx::NodeProto &inner = addBranch(choice, "then_branch", "Exp");
  EXPECT_EQ(failure().code, 0);
  inner.set_input(0, "inner");
  expectFailure(3, {"'the_If/inner'", "'inner'"});
}

TEST_F(WalkTest, ConditionsThatACallDecidesNeedBothBranches) {
  input("x", {4});
  input("c", {1}, 9);
  input("two", {2}, 9);
  onnx::NodeProto &choice = node("If", {"c"}, {"y"});
  output("y");
  addBranch(choice, "then_branch", "Exp");
  expectFailure(3, {"the_If", "'else_branch'"});
  onnx::NodeProto &other = addBranch(choice, "else_branch", "Neg");
  EXPECT_EQ(failure().code, 0);
  other.set_input(0, "inner");
  expectFailure(3, {"'the_If/else/inner'", "'inner'"});
  other.set_input(0, "x");
  choice.set_input(0, "two");
  expectFailure(3, {"condition", "(2)", "one element"});
  choice.set_input(0, "c");
  other.set_op_type("Shape");
  expectFailure(4, {"condition", "float32 (4)", "int64"});
}

TEST_F(WalkTest, LoopsOfAKnownLength) {
  input("x", {4});
  input("n", {}, 7);
  input("c", {}, 9);
  onnx::TensorProto &steps = tensor("steps", {});
  steps.set_data_type(7);
  steps.add_int64_data(3);
  onnx::NodeProto &loop = node("Loop", {"n", "", "x"}, {"y"});
  output("y");
  onnx::AttributeProto &attribute = *loop.add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto &body = *attribute.mutable_g();
  for (const char *name : {"i", "go", "h"})
    body.add_input()->set_name(name);
  onnx::NodeProto &inner = *body.add_node();
  inner.set_op_type("Exp");
  inner.add_input("h");
  inner.add_output("z");
  body.add_output()->set_name("go");
  body.add_output()->set_name("z");
  expectFailure(4, {"Loop", "how often it runs is not known", "unroll"});
  loop.set_input(0, "steps");
  EXPECT_EQ(failure().code, 0);
  inner.set_op_type("Det"); // reported as ever, once
  expectFailure(4, {"Det", "1 node", "the_Loop/0/z"});
  inner.set_op_type("Exp");
  loop.set_input(1, "c");
  expectFailure(4, {"Loop", "whether it goes on is not known"});
  loop.set_input(1, "");
  body.mutable_output(0)->set_name("c"); // a condition that a call decides, from the second step on
  expectFailure(4, {"Loop", "whether it goes on is not known"});
  body.mutable_output(0)->set_name("go");
  steps.set_int64_data(0, int64_t(1) << 60);
  expectFailure(4, {"Loop", "more than 4096 times"});
  loop.set_input(0, "");
  expectFailure(4, {"Loop", "more than 4096 times"});
  loop.set_input(0, "steps");
  body.mutable_input()->RemoveLast();
  steps.set_int64_data(0, 3);
  expectFailure(3, {"the_Loop", "'body' is no graph of 3 inputs and 2 outputs"});
}

TEST_F(WalkTest, MapsOverSequences) {
  input("x", {4});
  node("SequenceConstruct", {"x", "x"}, {"s"});
  node("SequenceConstruct", {"x"}, {"short"});
  node("SequenceEmpty", {}, {"none"});
  onnx::NodeProto &map = node("SequenceMap", {"s", "s"}, {"t"});
  node("ConcatFromSequence", {"t"}, {"y"});
  onnx::AttributeProto &axis = *graph().mutable_node(4)->add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  output("y");
  expectFailure(3, {"the_SequenceMap", "attribute 'body' is no graph of 2 inputs and 1 outputs"});
  onnx::AttributeProto &attribute = *map.add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto &body = *attribute.mutable_g();
  body.add_input()->set_name("a");
  body.add_input()->set_name("b");
  onnx::NodeProto &inner = *body.add_node();
  inner.set_op_type("Mul");
  inner.add_input("a");
  inner.add_input("b");
  inner.add_output("c");
  body.add_output()->set_name("c");
  EXPECT_EQ(failure().code, 0);
  inner.set_op_type("Det"); // reported as ever, once
  expectFailure(4, {"Det", "1 node", "the_SequenceMap/0/c"});
  inner.set_op_type("SequenceConstruct");
  expectFailure(3, {"the_SequenceMap", "its body gives sequence of 2 tensors of float32"});
  inner.set_op_type("Mul");
  map.set_input(1, "short");
  expectFailure(3, {"the_SequenceMap", "sequences of 2 and 1 tensors"});
  map.set_input(0, "x");
  expectFailure(3, {"the_SequenceMap", "input 0 is float32 (4) where a sequence of tensors is due"});
  map.set_input(0, "none");
  map.set_input(1, "none");
  expectFailure(4, {"SequenceMap", "an empty sequence"});
}

TEST_F(WalkTest, SequencesWhoseStructureIsKnown) {
  input("x", {std::string("N"), 4});
  input("c", {}, 7);
  onnx::NodeProto &split = node("SplitToSequence", {"x", "two"}, {"s"});
  onnx::AttributeProto &axis = *split.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(1);
  onnx::NodeProto &choose = node("SequenceAt", {"s", "at"}, {"y"});
  onnx::TensorProto &two = ints("two", {2}), &at = ints("at", {1});
  two.clear_dims();
  output("y");
  EXPECT_EQ(failure().code, 0);
  choose.set_input(1, "c"); // a position that a call decides
  expectFailure(4,
                {"SequenceAt", "sequence of 2 tensors of float32", "input 1 is computed", "a constant of the graph"});
  choose.set_input(1, "at");
  at.set_int64_data(0, 2);
  expectFailure(3, {"the_SequenceAt", "position 2 of a sequence of 2 tensors"});
  at.set_int64_data(0, -3);
  expectFailure(3, {"the_SequenceAt", "position -3"});
  at.add_int64_data(0);
  at.set_dims(0, 2);
  expectFailure(3, {"the_SequenceAt", "2 elements where a position is due"});
  at.mutable_int64_data()->RemoveLast();
  at.set_dims(0, 1);
  at.set_int64_data(0, 1);
  choose.set_input(0, "x");
  expectFailure(3, {"the_SequenceAt", "input 0 is float32 (N, 4) where a sequence of tensors is due"});
  choose.set_input(0, "s");
  two.set_int64_data(0, 0);
  expectFailure(3, {"the_SplitToSequence", "parts of length 0"});
  two.add_dims(1);
  expectFailure(3, {"the_SplitToSequence", "do not make up the length 4"});
  axis.set_i(0);
  expectFailure(4, {"SplitToSequence", "splits dimension 'N'", "--dim N=VALUE"});
  axis.set_i(1);
  two.clear_dims();
  two.set_int64_data(0, 2);
  // What takes a tensor, and what leaves the model.
  choose.set_op_type("Exp");
  choose.mutable_input()->RemoveLast();
  expectFailure(3, {"(Exp)", "input 0 is a sequence of 2 tensors of float32 where a tensor is due"});
  choose.set_op_type("Identity");
  expectFailure(4, {"output 'y' is a sequence of 2 tensors of float32, expected a tensor", "ConcatFromSequence"});
  choose.set_op_type("ConcatFromSequence");
  expectFailure(3, {"(ConcatFromSequence)", "'axis' is missing"});
  choose.set_op_type("SequenceConstruct");
  choose.set_input(0, "x");
  choose.add_input("at");
  expectFailure(3, {"(SequenceConstruct)", "a tensor int64 (1) in a sequence of float32"});
  graph().mutable_input(0)->mutable_type()->clear_tensor_type();
  graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
  expectFailure(4, {"input 'x' is a sequence where a tensor is due"});
}

TEST_F(WalkTest, WindowsThatDoNotFit) {
  input("x", {std::string("N"), 3, 8});
  onnx::NodeProto &conv = node("Conv", {"x", "w"}, {"y"});
  onnx::TensorProto &w = tensor("w", {2, 3, 4});
  for (int i = 0; i < 24; ++i)
    w.add_float_data(1);
  output("y");
  EXPECT_EQ(failure().code, 0);
  auto numbers = [&](const std::string &name, std::vector<int64_t> values) {
    onnx::AttributeProto &attribute = *conv.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values)
      attribute.add_ints(value);
  };
  numbers("strides", {4});
  EXPECT_EQ(failure().code, 0);
  for (auto [name, values, code, part] :
       {std::tuple("pads", std::vector<int64_t>{-1, 0}, 3, "with padding of -1 and 0"),
        {"pads", {0, int64_t(1) << 40}, 4, "padding of more than 1048576 elements"},
        {"dilations", {3}, 3, "windows of 10 elements along axis 2 of 8 with padding of 0 and 0"},
        {"dilations", {int64_t(1) << 62}, 4, "gaps or padding of more than 1048576"},
        {"kernel_shape", {5}, 3, "windows of length 5 at steps of 4 along axis 2"},
        {"pads", {0}, 3, "attribute 'pads' has 1 numbers, expected 2"}}) {
    numbers(name, values);
    expectFailure(code, {"the_Conv", part});
    conv.mutable_attribute()->RemoveLast();
  }
  tensor("b", {1}).add_float_data(1);
  conv.add_input("b");
  expectFailure(3, {"the_Conv", "a bias float32 (1) for 2 channels"});
  conv.mutable_input()->RemoveLast();
  w.set_dims(1, 2);
  w.set_dims(0, 3);
  expectFailure(3, {"the_Conv", "float32 (N, 3, 8), the weights are for 2 channels"});
  w.set_dims(2, 2);
  w.add_dims(2);
  expectFailure(3, {"the_Conv", "x is float32 (N, 3, 8), the weights are float32 (3, 2, 2, 2)"});
  // Pooling.
  onnx::TensorShapeProto &shape = *graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  conv.mutable_input()->RemoveLast();
  conv.set_op_type("MaxPool");
  expectFailure(3, {"(MaxPool)", "'kernel_shape' is missing"});
  numbers("kernel_shape", {2});
  numbers("pads", {6, 0});
  expectFailure(3, {"(MaxPool)", "a window outside of the image"});
  conv.mutable_attribute()->RemoveLast();
  shape.mutable_dim(2)->set_dim_value(1 << 20);
  conv.mutable_attribute(0)->set_ints(0, 1);
  conv.mutable_attribute(1)->set_ints(0, 1 << 19);
  expectFailure(4, {"MaxPool", "windows of more than 33554432 elements in all"});
  conv.mutable_attribute(1)->set_ints(0, 0);
  expectFailure(3, {"(MaxPool)", "windows of length 0"});
  shape.mutable_dim()->RemoveLast();
  expectFailure(3, {"(MaxPool)", "expected rows, channels, and an image"});
}

TEST_F(WalkTest, SequencesTakeRoom) {
  input("x", {1 << 20});
  node("SplitToSequence", {"x"}, {"s"});
  node("SequenceAt", {"s", "at"}, {"y"});
  ints("at", {0});
  output("y");
  expectFailure(4, {"SplitToSequence", "more than 4096 tensors"});
}

TEST_F(WalkTest, ElementsThatAnOpDoesNotTake) {
  input("x", {std::string("N"), 3, 4}, 7);
  onnx::NodeProto &tanh = node("Tanh", {"x"}, {"y"});
  output("y");
  expectFailure(3, {"the_Tanh", "expected elements of a float type"});
  ints("c", {1, 2});
  tanh.set_input(0, "c");
  expectFailure(3, {"the_Tanh", "expected elements of a float type"});
  tanh.set_input(0, "x");
  tanh.set_op_type("GlobalAveragePool");
  expectFailure(3, {"(GlobalAveragePool)", "float"});
  tanh.set_op_type("AveragePool");
  onnx::AttributeProto &lengths = *tanh.add_attribute();
  lengths.set_name("kernel_shape");
  lengths.set_type(onnx::AttributeProto::INTS);
  lengths.add_ints(2);
  expectFailure(3, {"the_Tanh", "x is int64 (N, 3, 4), expected elements of a float type"});
}

TEST_F(WalkTest, GraphsInGraphs) {
  input("x", {4});
  output("y");
  onnx::GraphProto *at = &graph();
  for (int i = 0; i < 40; ++i) {
    onnx::NodeProto &node = *at->add_node();
    node.set_op_type("If");
    node.add_input("x");
    node.add_output("y");
    onnx::AttributeProto &branch = *node.add_attribute();
    branch.set_name("then_branch");
    at = branch.mutable_g();
  }
  expectFailure(3, {"nested"});
}

TEST_F(WalkTest, KnownIndicesOutOfRange) {
  input("x", {std::string("N"), 4});
  onnx::NodeProto &gather = node("Gather", {"x", "i"}, {"y"});
  onnx::AttributeProto &axis = *gather.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(1);
  output("y");
  ints("i", {0, 3, 4});
  expectFailure(3, {"the_Gather", "index 4", "length 4"});
  graph().mutable_initializer(0)->set_int64_data(2, -5);
  expectFailure(3, {"the_Gather", "index -5", "length 4"});
  graph().mutable_initializer(0)->set_int64_data(2, -4);
  EXPECT_EQ(failure().code, 0);
}

TEST_F(WalkTest, SizesThatDependOnData) {
  input("x", {4});
  input("c", {4}, 9);
  node("Compress", {"x", "c"}, {"a"});
  node("NonZero", {"x"}, {"b"});
  node("Unique", {"x"}, {"d"});
  node("Cast", {"b"}, {"e"});
  for (const char *name : {"a", "b", "d"})
    output(name);
  expectFailure(4, {"Compress", "NonZero", "Unique", "depends on"});
}

} // namespace
} // namespace tutti::test
