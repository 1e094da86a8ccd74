// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of ops: how many inputs and outputs each has, and what the report says of one that is not in it.
#include "FileFixture.h"
#include "compiler/import/onnx/ops/Ops.h"

#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tutti::test {
namespace {

using TableTest = FileTest;

TEST_F(TableTest, MoreInputsOrOutputsThanAnOpHas) {
  constexpr int64_t few = 99; // of an op that takes any number
  for (const char *name : {
#define ONNX_OP(name, since, inputs, outputs) #name,
#define ONNX_ML_OP(name, since, inputs, outputs) "ai.onnx.ml::" #name,
#define ONNX_RUNTIME_OP(name, inputs, outputs) "com.microsoft::" #name,
#include "compiler/import/onnx/ops/Ops.def"
       }) {
    const OnnxOp &op = *findOp(name);
    auto [domain, plain] = llvm::StringRef(name).rsplit("::");
    if (plain.empty())
      std::swap(domain, plain);
    bool isOther = !domain.empty();
    const std::string type = plain.str();
    int64_t newest = newestOpsetOf(domain);
    for (int64_t opset : {op.since, std::clamp<int64_t>(isOther ? 3 : 12, op.since, newest), newest})
      for (bool inputs : {true, false}) {
        int64_t most = (inputs ? op.inputs : op.outputs).at(opset);
        if (most > few)
          continue;
        model.Clear();
        model.add_opset_import()->set_version(isOther ? 18 : opset);
        if (isOther) {
          onnx::OperatorSetIdProto &other = *model.add_opset_import();
          other.set_domain(domain.str());
          other.set_version(opset);
        }
        input("x", {4});
        std::vector<std::string> names(size_t(most + 1), inputs ? "x" : "");
        if (!inputs)
          names[0] = "y"; // the others have no name, and count as well
        node(type, inputs ? names : std::vector<std::string>{"x"}, inputs ? std::vector<std::string>{"y"} : names)
            .set_domain(domain.str());
        output("y");
        bool first = inputs || op.inputs.at(opset) > 0;
        expectFailure(3, {"'the_" + type + "'", type,
                          std::to_string(first ? most + 1 : 1) + (first && !inputs ? " outputs" : " inputs"),
                          "at most " + std::to_string(first ? most : 0) + " at opset " + std::to_string(opset)});
      }
  }
}

TEST_F(TableTest, ASequenceWhereATensorIsDue) {
  for (const char *name : {
#define ONNX_OP(name, since, inputs, outputs) #name,
#define ONNX_ML_OP(name, since, inputs, outputs)
#include "compiler/import/onnx/ops/Ops.def"
       }) {
    const OnnxOp &op = *findOp(name);
    if (op.takesSequences)
      continue;
    int64_t most = std::min<int64_t>(op.inputs.at(newestOpset), 8);
    for (int64_t i = 0; i < most; ++i) {
      model.Clear();
      model.add_opset_import()->set_version(newestOpset);
      input("x", {4});
      node("SequenceConstruct", {"x", "x"}, {"s"});
      std::vector<std::string> names(size_t(most), "x");
      names[size_t(i)] = "s";
      node(name, names, {"y"});
      output("y");
      expectFailure(3, {"'the_" + std::string(name) + "' (" + name + ")",
                        "input " + std::to_string(i) + " is a sequence of 2 tensors of float32 where a tensor is due"});
    }
  }
}

TEST_F(TableTest, HowManyInputsAnOpHasDependsOnTheOpset) {
  input("x", {std::string("N"), 4});
  node("ReduceSum", {"x", "axes"}, {"y"});
  output("y");
  ints("axes", {1});
  EXPECT_EQ(failure().code, 0);
  model.mutable_opset_import(0)->set_version(12); // axes are an attribute
  expectFailure(3, {"'the_ReduceSum' (ReduceSum) has 2 inputs, expected at most 1 at opset 12"});
}

TEST_F(TableTest, OpsOfMachineLearningAreImportedOrSayWhyNot) {
  std::string unknown = whyNot("NoSuchOp").reason;
  for (const char *name : {"ArrayFeatureExtractor", "Binarizer", "CastMap", "CategoryMapper", "DictVectorizer",
                           "FeatureVectorizer", "Imputer", "LabelEncoder", "LinearClassifier", "LinearRegressor",
                           "Normalizer", "OneHotEncoder", "SVMClassifier", "SVMRegressor", "Scaler", "TreeEnsemble",
                           "TreeEnsembleClassifier", "TreeEnsembleRegressor", "ZipMap"}) {
    Why why = whyNot(qualified(mlDomain, name));
    EXPECT_EQ(findOp(qualified(mlDomain, name)) == nullptr, why.reason != unknown) << name;
    EXPECT_EQ(findOp(name), nullptr) << "of another domain";
    EXPECT_FALSE(why.advice.empty()) << name;
  }
}

TEST_F(TableTest, EveryOpIsImportedOrSaysWhyNot) {
  // What is missing has a reason of its own, not the one of an op that nobody knows. Nodes with graphs in them are the
  // walk's.
  std::string unknown = whyNot("NoSuchOp").reason;
  auto list =
      llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(TUTTI_TEST_INPUTS "/../onnx-ops.txt")));
  size_t count = 0;
  for (llvm::line_iterator line(*list, /*SkipBlanks=*/true, '#'); !line.is_at_eof(); ++line, ++count) {
    std::string name = line->str();
    if (llvm::is_contained({"If", "Loop", "Scan", "SequenceMap"}, name))
      continue;
    Why why = whyNot(name);
    EXPECT_EQ(findOp(name) == nullptr, why.reason != unknown) << name;
    EXPECT_FALSE(why.advice.empty()) << name;
  }
  EXPECT_GT(count, 200u);
}

} // namespace
} // namespace tutti::test
