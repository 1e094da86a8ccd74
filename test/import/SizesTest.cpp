// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that meet: which become one, and what is cut out of long joins.
#include "FileFixture.h"

namespace tutti::test {
namespace {

class SizesTest : public FileTest {
protected:
  static void along(onnx::NodeProto &node, int64_t axis) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name("axis");
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(axis);
  }
  /// Of 1 to 8 each.
  static ImportOptions calls(std::initializer_list<const char *> symbols) {
    ImportOptions options;
    for (const char *symbol : symbols)
      options.dims[symbol] = {1, 8};
    return options;
  }
};

/// Where a shape only has to broadcast, nothing else is bound by it.
TEST_F(SizesTest, ShapesThatBroadcastBindOnlyWhatMeets) {
  input("x", {std::string("N"), 1});
  input("like", {std::string("K"), std::string("M")});
  node("Shape", {"like"}, {"s"});
  node("Expand", {"x", "s"}, {"y"});
  output("y");
  std::string given = types(calls({"N", "M"}));
  EXPECT_NE(given.find("-> tensor<?x?xf32, #tutti.sizes<N, M>>"), std::string::npos) << given;
}

TEST_F(SizesTest, TheFrontOfATableBindsNoDimension) {
  for (bool scatters : {false, true}) {
    model.clear_graph();
    input("i", {std::string("B"), 3}, /*type=*/7);
    tensor("table", {64, 10}).mutable_float_data()->Resize(640, 1.0f);
    if (scatters) {
      input("u", {std::string("B"), 3});
      node("ScatterElements", {"table", "i", "u"}, {"y"});
    } else {
      node("GatherElements", {"table", "i"}, {"y"});
    }
    along(*graph().mutable_node(0), 1);
    output("y");
    expectFailure(4, {scatters ? "ScatterElements" : "GatherElements", "64", "B", "--dim"}, calls({"B"}));
  }
}

/// What parameters say of a size binds it; what holds at some calls alone is said so.
TEST_F(SizesTest, SizesThatParametersBind) {
  input("x", {std::string("N"), std::string("C"), 4});
  for (const char *name : {"scale", "bias", "mean", "var"})
    tensor(name, {3}).mutable_float_data()->Resize(3, 1.0f);
  node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"});
  output("y");
  std::string given = types(calls({"N"}));
  EXPECT_NE(given.find("-> tensor<?x3x4xf32, #tutti.sizes<N>>"), std::string::npos) << given;
  expectFailure(4, {"BatchNormalization", "a parameter of shape (3) and C channels fit only for some sizes", "--dim C"},
                calls({"N", "C"}));
}

TEST_F(SizesTest, AxesOfLengthOneAtSomeCalls) {
  input("x", {std::string("N"), 4});
  ints("axes", {0});
  node("Squeeze", {"x", "axes"}, {"y"});
  output("y");
  expectFailure(4, {"Squeeze", "axis 0 of shape (N, 4) and length 1 fit only for some sizes", "--dim N=VALUE"},
                calls({"N"}));
}

TEST_F(SizesTest, SummedLabelsFit) {
  input("x", {3, std::string("N"), 4});
  tensor("w", {5, 4}).mutable_float_data()->Resize(20, 1.0f);
  node("Einsum", {"x", "w"}, {"y"}).add_attribute()->set_name("equation");
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_s("bij,ik->bkj");
  output("y");
  expectFailure(4, {"Einsum", "lengths N and 5 of label 'i' fit only for some sizes of a call", "--dim N=VALUE"},
                calls({"N"}));
}

TEST_F(SizesTest, BoundsAreOneNumber) {
  input("x", {std::string("N"), 4});
  onnx::TensorProto &low = tensor("low", {1, 1, 1});
  low.add_float_data(0);
  node("Clip", {"x", "low"}, {"y"});
  output("y");
  EXPECT_NE(types().find("-> tensor<?x4xf32"), std::string::npos) << types();
  low.clear_dims();
  low.add_dims(4);
  low.mutable_float_data()->Resize(4, 1.0f);
  expectFailure(3, {"Clip", "a bound float32 (4), expected one number"});
}

TEST_F(SizesTest, RangesToAShape) {
  input("x", {4, std::string("N")});
  ints("zero", {0}).clear_dims();
  ints("one", {1}).clear_dims();
  node("Shape", {"x"}, {"s"});
  node("Range", {"zero", "s", "one"}, {"y"});
  output("y");
  expectFailure(3, {"Range", "input 1", "a number is due"}, calls({"N"}));
}

/// What is known when compiling is computed in float64 and rounded once: a chain of floats would be off by one here.
TEST_F(SizesTest, ConstantsAreAddedUpInFloat64) {
  constexpr int count = 100000;
  input("x", {1, 1});
  onnx::TensorProto &w = tensor("w", {1, count});
  for (int i = 0; i < count; ++i)
    w.add_float_data(0.1f);
  ints("axes", {1});
  node("ReduceSum", {"w", "axes"}, {"s"});
  node("Mul", {"x", "s"}, {"y"});
  output("y");
  llvm::Expected<MemberModel> member = importOnnx(context, save(), {});
  ASSERT_TRUE(bool(member)) << llvm::toString(member.takeError());
  EXPECT_EQ(countOps(*member->module, "tutti.reduce"), 0u);
  HostTensor one = HostTensor::zeros(mlir::Float32Type::get(&context), {1, 1});
  one.floats[0] = 1;
  EXPECT_EQ(evaluate(*member, {{"x", one}})["y"].floats[0], double(float(count * double(0.1f))));
}

/// Joins of joins, and what is cut out of them or looked up in them: by a way that ends, and without a call for each.
TEST_F(SizesTest, LongChainsOfJoins) {
  input("x", {std::string("N"), 1});
  std::string last = "x";
  constexpr int joins = 6000;
  ints("zero", {0});
  ints("one", {1});
  for (int i = 0; i < joins; ++i) {
    along(node("Concat", {last, "x"}, {"j" + std::to_string(i)}), 1);
    last = "j" + std::to_string(i);
  }
  for (int i = 0; i < 200; ++i) {
    node("Slice", {last, "zero", "one", "one"}, {"s" + std::to_string(i)});
    output("s" + std::to_string(i));
  }
  EXPECT_EQ(failure(calls({"N"})).message, "");
}

} // namespace
} // namespace tutti::test
