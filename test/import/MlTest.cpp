// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the import says of ops of the domain ai.onnx.ml that it cannot take.
#include "FileFixture.h"

namespace tutti::test {
namespace {

class MlTest : public FileTest {
protected:
  /// y = op(x), x of four features.
  onnx::NodeProto &op(const std::string &type, int element = 1, std::vector<Dim> dims = {std::string("N"), 4}) {
    model.Clear();
    model.add_opset_import()->set_version(18);
    onnx::OperatorSetIdProto &ml = *model.add_opset_import();
    ml.set_domain("ai.onnx.ml");
    ml.set_version(3);
    input("x", dims, element);
    output("y");
    onnx::NodeProto &made = node(type, {"x"}, {"y"});
    made.set_domain("ai.onnx.ml");
    return made;
  }
  static onnx::AttributeProto &attribute(onnx::NodeProto &node, const std::string &name,
                                         onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto &each = *node.add_attribute();
    each.set_name(name);
    each.set_type(type);
    return each;
  }
  static void floats(onnx::NodeProto &node, const std::string &name, int count) {
    onnx::AttributeProto &each = attribute(node, name, onnx::AttributeProto::FLOATS);
    for (int i = 0; i < count; ++i)
      each.add_floats(0.5f);
  }
  static void integers(onnx::NodeProto &node, const std::string &name, int count) {
    onnx::AttributeProto &each = attribute(node, name, onnx::AttributeProto::INTS);
    for (int i = 0; i < count; ++i)
      each.add_ints(i);
  }
  static void text(onnx::NodeProto &node, const std::string &name, const std::string &value) {
    attribute(node, name, onnx::AttributeProto::STRING).set_s(value);
  }
};

TEST_F(MlTest, WhatIsNotDenseSaysWhatToDo) {
  op("ZipMap");
  expectFailure(4, {"ai.onnx.ml::ZipMap (opset 3)", "'the_ZipMap'", "maps", "'zipmap': False"});
  op("TreeEnsembleClassifier");
  expectFailure(4, {"ai.onnx.ml::TreeEnsembleClassifier", "trees are not dense"});
  op("NoSuchOp");
  expectFailure(4, {"ai.onnx.ml::NoSuchOp", "has an op of that name"});
}

TEST_F(MlTest, DefaultDomainNeedNotBeNamed) {
  auto alone = [&](const std::string &type) -> onnx::NodeProto & {
    onnx::NodeProto &made = op(type);
    model.mutable_opset_import()->DeleteSubrange(0, 1);
    return made;
  };
  floats(alone("Scaler"), "scale", 4);
  floats(*model.mutable_graph()->mutable_node(0), "offset", 4);
  EXPECT_EQ(failure().code, 0) << failure().message;
  alone("Relu").set_domain("");
  expectFailure(3, {"'the_Relu'", "default domain", "no opset"});
}

TEST_F(MlTest, Strings) {
  for (auto [type, name, advice] : {std::tuple("LinearClassifier", "classlabels_strings", "'nocl'"),
                                    std::tuple("OneHotEncoder", "cats_strings", "encode strings as integers"),
                                    std::tuple("LabelEncoder", "values_strings", "encode strings as integers")}) {
    attribute(op(type), name, onnx::AttributeProto::STRINGS).add_strings("red");
    expectFailure(4, {type, name, "strings are not supported", advice});
  }
}

TEST_F(MlTest, VersionsOfTheDomain) {
  op("Normalizer");
  model.mutable_opset_import(1)->set_version(6);
  expectFailure(4, {"ai.onnx.ml::Normalizer (opset 6)", "opsets 1 to 5 of its domain"});
  model.mutable_opset_import()->RemoveLast();
  expectFailure(4, {"ai.onnx.ml::Normalizer (opset 0)", "the model does not import its domain"});
}

TEST_F(MlTest, Features) {
  op("Scaler", 1, {std::string("N"), 2, 4});
  expectFailure(3, {"the_Scaler", "float32 (N, 2, 4), expected numbers of shape (rows, features) or (features)"});
  floats(op("Scaler"), "offset", 3);
  expectFailure(3, {"the_Scaler", "attribute 'offset' has 3 numbers, expected 1 or one for each of 4 features"});
  text(op("Normalizer"), "norm", "L7");
  expectFailure(3, {"the_Normalizer", "'norm' is 'L7', expected MAX, L1 or L2"});
  floats(op("Imputer", 7), "imputed_value_floats", 4);
  expectFailure(3, {"the_Imputer", "'imputed_value_int64s' has 0 numbers, expected 1 or one for each of 4 features"});
  op("Binarizer", 9);
  expectFailure(3, {"the_Binarizer", "bool (N, 4) where numbers are due"});
  integers(op("FeatureVectorizer"), "inputdimensions", 2);
  expectFailure(3, {"the_FeatureVectorizer", "has 2 numbers, expected one for each of 1 inputs"});
  graph().mutable_node(0)->mutable_attribute(0)->mutable_ints()->RemoveLast();
  expectFailure(4, {"FeatureVectorizer", "input 0 has 4 features", "'inputdimensions' says 0"});
  onnx::NodeProto &extractor = op("ArrayFeatureExtractor");
  extractor.add_input("x");
  expectFailure(3, {"the_ArrayFeatureExtractor", "the indices are float32 (N, 4)"});
}

TEST_F(MlTest, Categories) {
  op("OneHotEncoder", 7);
  expectFailure(3, {"the_OneHotEncoder", "with 0 categories"});
  onnx::NodeProto &encoder = op("LabelEncoder", 7);
  integers(encoder, "keys_int64s", 3);
  expectFailure(3, {"the_LabelEncoder", "one of the attributes 'values_int64s', 'values_floats' and 'values_tensor'"});
  integers(encoder, "values_int64s", 2);
  expectFailure(3, {"the_LabelEncoder", "the keys are int64 (3) and the values int64 (2)"});
  graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  expectFailure(3, {"the_LabelEncoder", "x is float32 (N, 4)"});
}

TEST_F(MlTest, LinearModels) {
  onnx::NodeProto &regressor = op("LinearRegressor");
  attribute(regressor, "targets", onnx::AttributeProto::INT).set_i(3);
  floats(regressor, "coefficients", 11);
  expectFailure(3, {"the_LinearRegressor", "'coefficients' has 11 numbers, expected 3 times 4"});
  regressor.mutable_attribute(1)->add_floats(1);
  EXPECT_EQ(failure().code, 0);
  floats(regressor, "intercepts", 2);
  expectFailure(3, {"the_LinearRegressor", "'intercepts' has 2 numbers, expected none or 3"});
  regressor.mutable_attribute()->RemoveLast();
  text(regressor, "post_transform", "PROBIT");
  expectFailure(4, {"LinearRegressor", "post_transform PROBIT"});
  regressor.mutable_attribute(2)->set_s("SQUARE");
  expectFailure(3, {"the_LinearRegressor", "'post_transform' is 'SQUARE'"});
  regressor.mutable_attribute(2)->set_s("LOGISTIC");
  regressor.mutable_attribute(0)->set_i(1);
  regressor.mutable_attribute(1)->mutable_floats()->Truncate(4);
  expectFailure(4, {"LinearRegressor", "post_transform LOGISTIC of a single score"});

  onnx::NodeProto &classifier = op("LinearClassifier");
  floats(classifier, "coefficients", 4);
  expectFailure(3, {"the_LinearClassifier", "'classlabels_ints' has 0 numbers, expected at least 2"});
  integers(classifier, "classlabels_ints", 2);
  expectFailure(4, {"LinearClassifier", "one row of coefficients for two labels", "NONE"});

  onnx::NodeProto &machine = op("SVMRegressor");
  attribute(machine, "n_supports", onnx::AttributeProto::INT).set_i(2);
  expectFailure(3, {"the_SVMRegressor", "'rho' has 0 numbers, expected 1"});
  floats(machine, "rho", 1);
  expectFailure(3, {"the_SVMRegressor", "'support_vectors' has 0 numbers, expected 2 times 4"});
  floats(machine, "support_vectors", 8);
  text(machine, "kernel_type", "CUBE");
  expectFailure(3, {"the_SVMRegressor", "'kernel_params' has 0 numbers, expected 3: gamma, coef0, degree"});
  floats(machine, "kernel_params", 3);
  expectFailure(3, {"the_SVMRegressor", "'kernel_type' is 'CUBE', expected LINEAR, POLY, RBF or SIGMOID"});
}

TEST_F(MlTest, Votes) {
  onnx::NodeProto &machine = op("SVMClassifier");
  expectFailure(3, {"the_SVMClassifier", "'classlabels_ints' has 0 numbers, expected at least 2"});
  integers(machine, "classlabels_ints", 3);
  expectFailure(3, {"'rho' has 0 numbers, expected at least 1"}); // without vectors
  integers(machine, "vectors_per_class", 2);
  expectFailure(3, {"'vectors_per_class' has 2 numbers, expected 3, one for each class"});
  onnx::AttributeProto &vectors = *machine.mutable_attribute(1);
  vectors.clear_ints();
  for (int64_t many : {2, -1, 1})
    vectors.add_ints(many);
  floats(machine, "support_vectors", 12);
  expectFailure(3, {"'vectors_per_class' has 3 numbers, expected 3, one for each class, none negative"});
  vectors.set_ints(1, 0);
  expectFailure(3, {"'coefficients' has 0 numbers, expected 2 for each of 3 support vectors"});
  floats(machine, "coefficients", 6);
  expectFailure(3, {"'rho' has 0 numbers, expected 3, one for each two classes"});
  floats(machine, "rho", 3);
  EXPECT_EQ(failure().code, 0);
  floats(machine, "prob_a", 3);
  expectFailure(3, {"'prob_b' has 0 numbers, expected 3, one for each two classes"});
  floats(machine, "prob_b", 3);
  EXPECT_EQ(failure().code, 0);
  vectors.set_ints(1, std::numeric_limits<int64_t>::max()); // whose sum with others would be no number
  expectFailure(3, {"'vectors_per_class' has 3 numbers, expected 3, one for each class, none negative"});
  vectors.set_ints(1, 0);
  text(machine, "post_transform", "SOFTMAX");
  expectFailure(4, {"post_transform SOFTMAX", "apply it behind the op"});
}

} // namespace
} // namespace tutti::test
