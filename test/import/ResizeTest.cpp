// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resampling that no length, no factor or no method of ours goes with.
#include "FileFixture.h"

#include <limits>

namespace tutti::test {
namespace {

class ResizeTest : public FileTest {
protected:
  /// x, (N, 3, 5), to twice as many elements along its last axis.
  ResizeTest() {
    input("x", {std::string("N"), 3, 5});
    output("y");
    for (float factor : {1.f, 1.f, 2.f})
      scales.add_float_data(factor);
  }
  void setText(const std::string &name, const std::string &value) {
    onnx::AttributeProto &attribute = *resize.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }
  void setInts(const std::string &name, std::vector<int64_t> values) {
    onnx::AttributeProto &attribute = *resize.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values)
      attribute.add_ints(value);
  }
  void toLengths(std::vector<int64_t> lengths) {
    ints("lengths", lengths);
    resize.set_input(2, "");
    resize.add_input("lengths");
  }

  onnx::NodeProto &resize = node("Resize", {"x", "", "factors"}, {"y"});
  onnx::TensorProto &scales = tensor("factors", {3});
};

TEST_F(ResizeTest, Factors) {
  EXPECT_EQ(failure().code, 0);
  for (auto [factor, code, said] : {std::tuple(0.1f, 3, "axis 2 of length 5 becomes one of 0"),
                                    {-1.f, 3, "becomes one of -5"},
                                    {1e30f, 4, "axis 2 of length 5 becomes one of 49"},
                                    {std::numeric_limits<float>::quiet_NaN(), 3, "of length 5"}}) {
    scales.set_float_data(2, factor);
    expectFailure(code, {"the_Resize", said});
  }
  scales.set_float_data(2, 2);
  scales.set_float_data(0, 2);
  expectFailure(4, {"the_Resize", "resamples along dimension 'N'", "--dim N=VALUE"});
  scales.set_dims(0, 2);
  scales.mutable_float_data()->RemoveLast();
  expectFailure(3, {"the_Resize", "2 factors for 3 axes"});
  resize.set_input(2, "");
  expectFailure(3, {"the_Resize", "input 2"});
}

TEST_F(ResizeTest, FactorsOfACall) {
  input("given", {3});
  resize.set_input(2, "given");
  expectFailure(4, {"the_Resize", "computed from the model's inputs", "--bind given=FILE.npy"});
}

TEST_F(ResizeTest, Lengths) {
  toLengths({7, 3, 5});
  expectFailure(4, {"the_Resize", "resamples along dimension 'N'", "--dim N=VALUE"});
  setInts("axes", {1, -1});
  expectFailure(3, {"the_Resize", "3 lengths for 2 axes"});
  resize.mutable_attribute(0)->set_ints(0, 2);
  expectFailure(3, {"the_Resize", "axis -1 is named twice"});
}

TEST_F(ResizeTest, LengthsPastWhatWeHold) {
  toLengths({int64_t(1) << 62});
  setInts("axes", {2});
  expectFailure(4, {"the_Resize", "axis 2 of length 5 becomes one of 4611686018427387904"});
  setText("keep_aspect_ratio_policy", "not_larger");
  expectFailure(4, {"the_Resize", "becomes one of"});
  resize.mutable_attribute(1)->set_s("never");
  expectFailure(3, {"the_Resize", "'keep_aspect_ratio_policy' is 'never'"});
}

TEST_F(ResizeTest, Methods) {
  setText("mode", "lanczos");
  expectFailure(3, {"the_Resize", "resampling by 'lanczos', 'half_pixel', 'round_prefer_floor'"});
  resize.mutable_attribute(0)->set_s("linear");
  setText("coordinate_transformation_mode", "tf_crop_and_resize");
  expectFailure(4, {"the_Resize", "resampling of regions is not supported", "Slice"});
}

/// Deprecated since opset 10, and as it was before Resize got other coordinates.
TEST_F(ResizeTest, UpsampleStaysAsItWas) {
  resize.set_op_type("Upsample");
  resize.clear_input();
  resize.add_input("x"), resize.add_input("factors");
  setText("mode", "linear");
  std::string at[2];
  for (int64_t opset : {9, 13}) {
    model.mutable_opset_import(0)->set_version(opset);
    at[opset == 13] = body();
  }
  EXPECT_NE(at[0].find("tutti.gather"), std::string::npos) << at[0];
  EXPECT_EQ(at[0], at[1]);
}

TEST_F(ResizeTest, IntegersHaveNoMean) {
  graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(6);
  EXPECT_EQ(failure().code, 0); // nearest
  setText("mode", "linear");
  expectFailure(4, {"the_Resize", "resampling of int32", "cast it to a float"});
}

TEST_F(ResizeTest, ManyNeighbours) {
  graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(2)->set_dim_value(4096);
  scales.set_float_data(2, 1.f / 1024);
  setText("mode", "linear");
  onnx::AttributeProto &antialias = *resize.add_attribute();
  antialias.set_name("antialias");
  antialias.set_type(onnx::AttributeProto::INT);
  antialias.set_i(1);
  expectFailure(4, {"the_Resize", "elements made of 2048 others each", "several steps"});
}

} // namespace
} // namespace tutti::test
