// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent ops whose operands or attributes do not fit, or that we do not have.
#include "FileFixture.h"

namespace tutti::test {
namespace {

class RecurrentTest : public FileTest {
protected:
  /// A GRU of 3 steps from 2 numbers to a state of 4.
  RecurrentTest() {
    input("x", {3, 7, 2});
    input("h", {1, 7, 4});
    output("y");
    setInt("hidden_size", 4);
  }
  onnx::TensorProto &zeros(const std::string &name, std::vector<int64_t> sizes) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    onnx::TensorProto &zeros = tensor(name, sizes);
    for (int64_t i = 0; i < count; ++i)
      zeros.add_float_data(0);
    return zeros;
  }
  onnx::AttributeProto &attribute(const std::string &name, onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto &attribute = *gru.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }
  void setInt(const std::string &name, int64_t value) { attribute(name, onnx::AttributeProto::INT).set_i(value); }
  onnx::TensorShapeProto &shapeOf(int input) {
    return *graph().mutable_input(input)->mutable_type()->mutable_tensor_type()->mutable_shape();
  }

  onnx::NodeProto &gru = node("GRU", {"x", "w", "r", "b", "", "h"}, {"y"});
  onnx::TensorProto &w = zeros("w", {1, 12, 2}), &r = zeros("r", {1, 12, 4}), &b = zeros("b", {1, 24});
};

TEST_F(RecurrentTest, OperandsThatDoNotFit) {
  EXPECT_EQ(failure().code, 0);
  b.set_dims(0, 2), b.set_dims(1, 12);
  expectFailure(3, {"the_GRU", "input 3, the bias, is float32 (2, 12), expected (1, 24)"});
  b.set_dims(0, 1), b.set_dims(1, 24);
  w.set_dims(1, 6), w.set_dims(2, 4);
  expectFailure(3, {"the_GRU", "input 1, the weights, is float32 (1, 6, 4), expected (1, 12, 2)"});
  w.set_dims(1, 12), w.set_dims(2, 2);
  shapeOf(1).mutable_dim(2)->set_dim_value(5);
  expectFailure(3, {"the_GRU", "input 5, the state, is float32 (1, 7, 5), expected (1, 7, 4)"});
  shapeOf(1).mutable_dim(2)->set_dim_value(4);
  r.set_dims(1, 4), r.set_dims(2, 12);
  expectFailure(3, {"the_GRU", "a state of 12 in 3 steps, where attribute 'hidden_size' is 4"});
  shapeOf(0).mutable_dim()->RemoveLast();
  expectFailure(3, {"the_GRU", "a sequence float32 (3, 7)"});
}

/// A state at the start of nothing but zeros is left out, where all members have such a one.
TEST_F(RecurrentTest, StatesThatAreZeroInOneMember) {
  gru.set_input(5, "given");
  onnx::TensorProto &given = zeros("given", {1, 7, 4});
  std::vector<std::string> files{save("a.onnx")};
  given.set_float_data(3, 0.5);
  files.push_back(save("b.onnx"));
  llvm::Expected<Ensemble> ensemble = align(context, files, {}, {/*share=*/true});
  EXPECT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
}

TEST_F(RecurrentTest, Steps) {
  shapeOf(0).mutable_dim(0)->set_dim_value(5000);
  expectFailure(4, {"the_GRU", "it has more than 4096 steps"});
  shapeOf(0).mutable_dim(0)->set_dim_value(0);
  EXPECT_NE(failure().code, 0);
  shapeOf(0).mutable_dim(0)->set_dim_param("T");
  ImportOptions options;
  options.dims["T"] = {2, 5};
  expectFailure(4, {"the_GRU", "goes step by step along dimension 'T'", "--dim T=VALUE"}, options);
}

TEST_F(RecurrentTest, StepsOfAllNodes) {
  shapeOf(0).mutable_dim(0)->set_dim_value(4096);
  for (int i = 0; i < 4; ++i) {
    node("GRU", {"x", "w", "r"}, {"y" + std::to_string(i)});
    output("y" + std::to_string(i));
  }
  expectFailure(4, {"GRU", "with it the model has more steps than there is room for"});
}

TEST_F(RecurrentTest, Attributes) {
  onnx::AttributeProto &direction = attribute("direction", onnx::AttributeProto::STRING);
  direction.set_s("up");
  expectFailure(3, {"the_GRU", "attribute 'direction' is 'up'"});
  direction.set_s("bidirectional");
  expectFailure(3, {"the_GRU", "float32 (1, 12, 2), expected (2, 12, 2)"});
  direction.set_s("reverse");
  onnx::AttributeProto &names = attribute("activations", onnx::AttributeProto::STRINGS);
  names.add_strings("Sigmoid");
  expectFailure(3, {"the_GRU", "1 activations, expected 2"});
  names.add_strings("Snake");
  expectFailure(4, {"the_GRU", "activation 'Snake'", "unroll the steps"});
  names.set_strings(0, "ScaledTanh");
  names.set_strings(1, "Elu");
  expectFailure(4, {"the_GRU", "activation 'ScaledTanh' without numbers of its own",
                    "give activation_alpha and activation_beta"});
}

TEST_F(RecurrentTest, LengthsAreIntegers) {
  zeros("n", {1});
  gru.set_input(4, "n");
  expectFailure(3, {"the_GRU", "input 4, the lengths"});
}

} // namespace
} // namespace tutti::test
