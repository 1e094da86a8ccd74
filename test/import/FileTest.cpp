// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are not there, external data, what is unsupported, and symbolic dimensions.
#include "FileFixture.h"
#include "compiler/import/Member.h"
#include "compiler/import/onnx/Importer.h"

#include "llvm/Support/JSON.h"

#include <sys/stat.h>

using namespace mlir;

namespace tutti::test {
namespace {

TEST_F(FileTest, NoFile) {
  EXPECT_EQ(failureOf(importOnnx(context, path("none.onnx"), {})).code, 2);
  EXPECT_EQ(failureOf(importOnnx(context, std::string(folder), {})).code, 2);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(failureOf(importOnnx(context, path("pipe"), {})).code, 2);
}

// Kernels bring them into their range, as those that only a call knows.
TEST_F(FileTest, MoreIndicesThanAreLookedAt) {
  constexpr int64_t many = 40'000'000;
  input("x", {8});
  ints("far", {int64_t(1) << 40});
  tensor("one", {1}).add_float_data(1);
  ints("many", {many});
  node("Expand", {"far", "many"}, {"indices"});
  node("Expand", {"one", "many"}, {"updates"});
  node("ScatterElements", {"x", "indices", "updates"}, {"y"});
  output("y");
  EXPECT_EQ(failure().message, "");
  graph().mutable_initializer(2)->set_int64_data(0, many / 40);
  expectFailure(3, {"index 1099511627776 of an axis of length 8"});
}

TEST_F(FileTest, ExternalDataIsNotWrittenOver) {
  external("w.bin");
  write("w.bin", llvm::StringRef("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16));
  ImportOptions options;
  for (std::string output : {"", "other.bin", "w.bin"}) {
    options.output = output.empty() ? output : path(output);
    Failure failed = failureOf(importMember(context, {save(), ""}, options, nullptr, 0));
    EXPECT_EQ(failed.code, output == "w.bin" ? 2 : 0) << failed.message;
    if (failed.code)
      EXPECT_NE(failed.message.find("would be written over"), std::string::npos) << failed.message;
  }
}

TEST_F(FileTest, Opsets) {
  input("x", {4});
  node("Relu", {"x"}, {"y"});
  output("y");
  EXPECT_EQ(failure().code, 0);
  for (int64_t version : {6, 29, 1000, 0, -3}) {
    model.mutable_opset_import(0)->set_version(version);
    expectFailure(4, {std::to_string(version)});
  }
  model.clear_opset_import();
  EXPECT_EQ(failure().code, 4);
}

TEST_F(FileTest, ExternalData) {
  external("weights/w.bin", "8", "16");
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("weights")));
  float numbers[] = {0, 0, 1, 2, 3, 4};
  write("weights/w.bin", StringRef(reinterpret_cast<char *>(numbers), sizeof(numbers)));
  llvm::Expected<MemberModel> member = importOnnx(context, save(), {});
  ASSERT_TRUE(bool(member)) << llvm::toString(member.takeError());
  WeightSource &w = member->weights["p0"];
  EXPECT_TRUE(w.whole && w.name == "w");
  EXPECT_EQ(std::memcmp(w.data, numbers + 2, 16), 0);
}

TEST_F(FileTest, MembersWithoutABias) {
  input("x", {4});
  node("Mul", {"x", "x"}, {"t"});
  onnx::NodeProto &last = node("Tanh", {"t"}, {"y"});
  output("y");
  std::string without = save("without.onnx");
  onnx::TensorProto &bias = tensor("bias", {4});
  for (float number : {1.f, 2.f, 3.f, 4.f})
    bias.add_float_data(number);
  last.set_op_type("Add");
  last.add_input("bias");
  last.set_output(0, "s");
  node("Tanh", {"s"}, {"y"});
  Failure failure = failureOf(align(context, {save("with.onnx"), without}, {}, {}));
  EXPECT_EQ(failure.code, 4);
  for (const char *part : {"(Tanh)", "weight 'bias'", "exporters leave out a bias that is all zeros"})
    EXPECT_NE(failure.message.find(part), std::string::npos) << part << " in: " << failure.message;
}

// Two initializers at one place are two, each of which can be swapped.
TEST_F(FileTest, ExternalDataOfTwo) {
  external("w.bin");
  const onnx::TensorProto w = model.graph().initializer(0);
  model.mutable_graph()->add_initializer()->CopyFrom(w);
  model.mutable_graph()->mutable_initializer(1)->set_name("v");
  node("Mul", {"y", "v"}, {"z"});
  output("z");
  float numbers[] = {1, 2, 3, 4};
  write("w.bin", StringRef(reinterpret_cast<char *>(numbers), sizeof(numbers)));
  llvm::Expected<Ensemble> ensemble = align(context, {save(), save()}, {}, {/*share=*/false});
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  EXPECT_EQ(ensemble->weights.size(), 2u);
}

TEST_F(FileTest, ExternalDataMissing) {
  external("w.bin");
  expectFailure(2, {"'w'", "w.bin"});
}

TEST_F(FileTest, ExternalDataTooShort) {
  external("w.bin", "8");
  write("w.bin", "0123456789abcdef");
  expectFailure(3, {"'w'", "w.bin", "too short"});
}

TEST_F(FileTest, ExternalOffsets) {
  write("w.bin", "0123456789abcdef");
  for (const char *offset : {"18446744073709551615", "18446744073709551600", "-1", "x", "99999999999999999999999"}) {
    model.clear_graph();
    external("w.bin", offset);
    EXPECT_EQ(failure().code, 3) << offset;
  }
  model.clear_graph();
  external("w.bin", "0", "15");
  EXPECT_EQ(failure().code, 3);
}

TEST_F(FileTest, ExternalDataThatLeaves) {
  std::string outside = path("secret");
  write("secret", "0123456789abcdef");
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("inner")));
  ASSERT_FALSE(llvm::sys::fs::create_link(outside, path("inner/link")));
  ASSERT_FALSE(llvm::sys::fs::create_link(folder, path("inner/folder")));
  for (std::string location : {outside, std::string("../secret"), std::string("a/../../secret"), std::string("link"),
                               std::string("folder/secret"), std::string("/etc/passwd")}) {
    model.clear_graph();
    external(location);
    Failure failed = failureOf(importOnnx(context, save("inner/model.onnx"), {}));
    EXPECT_EQ(failed.code, 7) << location << ": " << failed.message;
  }
}

TEST_F(FileTest, InitializerThatIsAlsoAnInput) {
  input("x", {4});
  input("w", {4});
  node("Add", {"x", "w"}, {"y"});
  output("y");
  tensor("w", {4}).set_raw_data(std::string(16, 'a'));
  EXPECT_EQ(types(), "(tensor<4xf32>) -> tensor<4xf32>");
}

TEST_F(FileTest, BrokenGraphs) {
  input("x", {4});
  node("Add", {"x", "nowhere"}, {"y"});
  output("y");
  expectFailure(3, {"'nowhere'", "the_Add"});
  graph().mutable_node(0)->set_input(1, "y");
  expectFailure(3, {"'y'"});
  graph().mutable_node(0)->clear_input();
  expectFailure(3, {"input 0 is missing"});
  graph().mutable_node(0)->add_input("x");
  graph().mutable_node(0)->add_input("x");
  graph().mutable_output(0)->set_name("z");
  expectFailure(3, {"'z'"});
  graph().clear_output();
  EXPECT_EQ(failure().code, 3);
  output("y");
  node("Relu", {"x"}, {"y"});
  expectFailure(3, {"two nodes"});
}

TEST_F(FileTest, WrongShapes) {
  input("x", {std::string("batch"), 4});
  node("MatMul", {"x", "w"}, {"y"});
  output("y");
  tensor("w", {5, 3}).set_raw_data(std::string(60, 'a'));
  expectFailure(3, {"the_MatMul", "(batch, 4)", "(5, 3)"});
}

TEST_F(FileTest, UnsupportedAllAtOnce) {
  input("x", {std::string("batch"), 4});
  node("Det", {"x"}, {"a"});
  node("Det", {"x"}, {"b"});
  node("Attention", {"x"}, {"c"}).set_domain("com.microsoft");
  node("Gelu", {"x"}, {"d"});
  node("Relu", {"x"}, {"e"}).add_attribute()->set_name("slope");
  onnx::NodeProto &sum = node("Sum", {"a", "b", "c", "d", "e"}, {"y"});
  sum.set_name("sum");
  node("NonZero", {"x"}, {"nobody reads this"});
  output("y");
  Failure failed = failure();
  EXPECT_EQ(failed.code, 4);
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(failed.json);
  ASSERT_TRUE(bool(json)) << failed.json;
  std::map<std::string, int64_t> counts;
  for (const llvm::json::Value &entry : *json->getAsArray())
    counts[entry.getAsObject()->getString("op")->str()] = *entry.getAsObject()->getInteger("count");
  EXPECT_EQ(counts,
            (std::map<std::string, int64_t>{{"Det", 2}, {"com.microsoft::Attention", 1}, {"Gelu", 1}, {"Relu", 1}}));
  for (const char *part : {"Det", "2 nodes", "opset 20", "'slope'", "float32 (batch, 4)"})
    EXPECT_NE(failed.message.find(part), std::string::npos) << failed.message;
}

TEST_F(FileTest, BatchIsTheDefault) {
  input("x", {std::string("N"), 4});
  node("Relu", {"x"}, {"y"});
  output("y");
  EXPECT_EQ(types(), "(tensor<?x4xf32, #tutti.sizes<N>>) -> tensor<?x4xf32, #tutti.sizes<N>>");
  EXPECT_EQ(types({{{"N", {7, 7}}}}), "(tensor<7x4xf32>) -> tensor<7x4xf32>");
}

TEST_F(FileTest, UnnamedDimension) {
  input("x", {std::string(), 4});
  node("Relu", {"x"}, {"y"});
  output("y");
  EXPECT_EQ(types(), "(tensor<?x4xf32, #tutti.sizes<x.0>>) -> tensor<?x4xf32, #tutti.sizes<x.0>>");
}

// "active" and "active.0" count members.
TEST_F(FileTest, DimensionCalledActive) {
  input("active", {std::string(), 4});
  node("Relu", {"active"}, {"y"});
  output("y");
  EXPECT_EQ(types(), "(tensor<?x4xf32, #tutti.sizes<active_0>>) -> tensor<?x4xf32, #tutti.sizes<active_0>>");
}

// What an exporter writes for no name is none.
TEST_F(FileTest, DimensionsWithoutANameAreBoundByTheirPlace) {
  input("x", {std::string("None"), 4});
  node("Relu", {"x"}, {"y"});
  output("y");
  EXPECT_EQ(types({{{"x.0", {2, 2}}}}), "(tensor<2x4xf32>) -> tensor<2x4xf32>");
  expectFailure(2, {"no dimension 'None'"}, {{{"None", {2, 2}}}});
}

// What is called otherwise here may be bound by the file's name, too.
TEST_F(FileTest, DimensionsByTheFilesNames) {
  input("x", {std::string("members"), std::string("a*b"), 4});
  node("Relu", {"x"}, {"y"});
  output("y");
  EXPECT_EQ(types({{{"a_b", {1, 9}}}}),
            "(tensor<?x?x4xf32, #tutti.sizes<members_, a_b>>) -> tensor<?x?x4xf32, #tutti.sizes<members_, a_b>>");
  EXPECT_EQ(types({{{"a*b", {3, 3}}, {"members", {2, 5}}}}),
            "(tensor<?x3x4xf32, #tutti.sizes<members_>>) -> tensor<?x3x4xf32, #tutti.sizes<members_>>");
  expectFailure(2, {"'a*b'", "one; bind them alike"}, {{{"a*b", {3, 3}}, {"a_b", {4, 4}}}});
}

TEST_F(FileTest, SecondSymbolMustBeBound) {
  input("x", {std::string("N"), std::string("length"), 4});
  node("Relu", {"x"}, {"y"});
  output("y");
  expectFailure(2, {"'length'", "--dim length="});
  EXPECT_EQ(types({{{"length", {3, 3}}}}),
            "(tensor<?x3x4xf32, #tutti.sizes<N>>) -> tensor<?x3x4xf32, #tutti.sizes<N>>");
  EXPECT_EQ(types({{{"length", {1, 9}}, {"N", {2, 2}}}}),
            "(tensor<2x?x4xf32, #tutti.sizes<length>>) -> tensor<2x?x4xf32, #tutti.sizes<length>>");
  expectFailure(2, {"'other'", "length"}, {{{"other", {3, 3}}}});
  expectFailure(2, {"length"}, {{{"length", {5, 3}}}});
  expectFailure(2, {"length"}, {{{"length", {0, 3}}}});
}

TEST_F(FileTest, SymbolsThatMeetAreOne) {
  input("x", {std::string("N"), 4});
  input("z", {std::string("M"), 4});
  node("Add", {"x", "z"}, {"y"});
  output("y");
  EXPECT_EQ(types(),
            "(tensor<?x4xf32, #tutti.sizes<N>>, tensor<?x4xf32, #tutti.sizes<N>>) -> tensor<?x4xf32, #tutti.sizes<N>>");
  EXPECT_EQ(types({{{"M", {3, 3}}}}), "(tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>");
  expectFailure(2, {"'M'", "'N'"}, {{{"M", {1, 4}}, {"N", {1, 3}}}});
  expectFailure(4, {"(N, 4)", "(3, 4)"}, {{{"M", {3, 3}}, {"N", {1, 3}}}});
}

TEST_F(FileTest, SymbolThatMeetsANumber) {
  input("x", {std::string("N"), std::string("K")});
  node("MatMul", {"x", "w"}, {"y"});
  output("y");
  tensor("w", {5, 3}).set_raw_data(std::string(60, 'a'));
  EXPECT_EQ(types(), "(tensor<?x5xf32, #tutti.sizes<N>>) -> tensor<?x3xf32, #tutti.sizes<N>>");
  EXPECT_EQ(failure({{{"K", {1, 9}}}}).code, 4);
}

// A number that an exporter wrote down where the batch was: one of its sizes does.
TEST_F(FileTest, JoinsOfSomeSizes) {
  input("x", {std::string("N"), 4});
  output("y");
  for (int64_t i = 0, rows = 3; i < rows * 2; ++i)
    (i ? *graph().mutable_initializer(0) : tensor("w", {rows, 2})).add_float_data(float(i));
  onnx::AttributeProto &axis = *node("Concat", {"x", "w"}, {"y"}).add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(1);
  EXPECT_EQ(types(), "(tensor<3x4xf32>) -> tensor<3x6xf32>");
  expectFailure(4, {"Concat", "(N, 4) and (3, 2)", "only for some sizes of a call", "--dim"}, {{{"N", {1, 8}}}});
  EXPECT_EQ(types({{{"N", {3, 3}}}}), "(tensor<3x4xf32>) -> tensor<3x6xf32>");
  graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(5);
  expectFailure(3, {"Concat", "do not join along axis 1"});
}

// A squeeze that names no axes takes none whose sizes are above 1.
TEST_F(FileTest, SqueezesOfWhateverIsOne) {
  input("x", {std::string("N"), 1, 4});
  output("y");
  node("Squeeze", {"x"}, {"y"});
  expectFailure(4, {"Squeeze", "'N'", "name the axes", "--dim N=2..HIGH"});
  expectFailure(4, {"--dim N=2..HIGH"}, {{{"N", {1, 8}}}});
  EXPECT_EQ(types({{{"N", {1, 1}}}}), "(tensor<1x1x4xf32>) -> tensor<4xf32>");
  ImportOptions options{{{"N", {2, 8}}}};
  EXPECT_EQ(types(options), "(tensor<?x1x4xf32, #tutti.sizes<N>>) -> tensor<?x4xf32, #tutti.sizes<N>>");
  // It is the first member's name that is bound.
  std::string first = save("first.onnx");
  graph().clear_input();
  input("x", {std::string("rows"), 1, 4});
  llvm::Expected<Ensemble> ensemble = align(context, {first, save("other.onnx")}, options, {});
  EXPECT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
}

// tf2onnx ends a slice that goes to the end at 10^9; whatever no size exceeds is such an end.
TEST_F(FileTest, SlicesToTheEndOfAnySize) {
  input("x", {std::string("N"), 4});
  ints("starts", {0, 0});
  ints("ends", {1000000000, 1000000000});
  ints("axes", {0, 1});
  ints("steps", {1, 2});
  node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
  output("y");
  EXPECT_EQ(types(), "(tensor<?x4xf32, #tutti.sizes<N>>) -> tensor<?x2xf32, #tutti.sizes<N>>");
  graph().mutable_initializer(1)->set_int64_data(0, 8);
  EXPECT_EQ(types({{{"N", {1, 8}}}}), "(tensor<?x4xf32, #tutti.sizes<N>>) -> tensor<?x2xf32, #tutti.sizes<N>>");
  expectFailure(4, {"Slice", "'N'", "--dim N="}, {{{"N", {1, 9}}}});
}

// TensorFlow spells the shape to which two tensors broadcast as the larger of their sizes.
TEST_F(FileTest, LargerOfTwoSizesIsBoth) {
  input("x", {std::string("N"), 4});
  input("z", {std::string("M"), 4});
  node("Shape", {"x"}, {"s"});
  node("Shape", {"z"}, {"t"});
  node("Max", {"s", "t"}, {"m"});
  node("Expand", {"x", "m"}, {"y"});
  output("y");
  EXPECT_EQ(types(),
            "(tensor<?x4xf32, #tutti.sizes<N>>, tensor<?x4xf32, #tutti.sizes<N>>) -> tensor<?x4xf32, #tutti.sizes<N>>");
  graph().mutable_node(2)->set_op_type("Min");
  expectFailure(4, {"Min", "'min' of sizes N and M"}, {{{"N", {1, 8}}, {"M", {1, 8}}}});
}

// Batches that go through a network together: as many rows of each, whatever their sizes are called.
TEST_F(FileTest, JoinedBatchesAreAlike) {
  input("x", {std::string("N"), 4});
  input("z", {std::string("M"), 4});
  auto alongRows = [](onnx::NodeProto &node) {
    onnx::AttributeProto &axis = *node.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(0);
  };
  alongRows(node("Concat", {"x", "z"}, {"j"}));
  alongRows(node("Split", {"j"}, {"a", "b"}));
  node("Sub", {"a", "b"}, {"y"});
  output("y");
  EXPECT_EQ(types(),
            "(tensor<?x4xf32, #tutti.sizes<N>>, tensor<?x4xf32, #tutti.sizes<N>>) -> tensor<?x4xf32, #tutti.sizes<N>>");
  graph().mutable_node(1)->add_output("c");
  expectFailure(4, {"Split", "'2*N'"});
}

TEST_F(FileTest, SymbolsAreParallel) {
  input("x", {std::string("N"), 4});
  ints("axes", {0});
  node("ReduceSum", {"x", "axes"}, {"y"});
  output("y");
  expectFailure(4, {"ReduceSum", "'N'", "--dim N="});
  EXPECT_EQ(failure({{{"N", {6, 6}}}}).code, 0);
}

// The order in which a scan adds does not hang on whether the axis behind is bound to one value or to a range.
TEST_F(FileTest, ScansBeforeAnAxisOfTheCall) {
  input("x", {3, std::string("N")});
  ints("axis", {0});
  node("CumSum", {"x", "axis"}, {"y"});
  output("y");
  std::string file = save("scan.onnx");
  for (auto [least, most, step] : {std::tuple(8, 8, 8), std::tuple(1, 8, 1)}) {
    ImportOptions options;
    options.dims["N"] = {least, most};
    llvm::Expected<Ensemble> ensemble = align(context, {file}, options, {});
    ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
    std::vector<std::optional<int64_t>> steps;
    ensemble->module->walk([&](ScanOp scan) { steps.push_back(scan.getStep()); });
    EXPECT_EQ(steps, (std::vector<std::optional<int64_t>>{step})) << least << ".." << most;
  }
}

TEST_F(FileTest, MembersMayCallThingsOtherwise) {
  input("x", {std::string("N"), 4});
  input("z", {std::string("N"), 4});
  node("Sub", {"x", "z"}, {"y"});
  output("y");
  std::string first = save("first.onnx");
  // Names that agree say which is which; their order does not.
  graph().clear_input();
  input("z", {std::string("rows"), 4});
  input("x", {std::string("rows"), 4});
  std::string swapped = save("swapped.onnx");
  llvm::Expected<Ensemble> ensemble = align(context, {first, swapped}, {}, {});
  EXPECT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  // Names that do not agree leave the order.
  model.clear_graph();
  input("left", {std::string("rows"), 4});
  input("right", {std::string("rows"), 4});
  node("Sub", {"left", "right"}, {"out"});
  output("out");
  std::string renamed = save("renamed.onnx");
  ImportOptions options;
  options.dims["N"] = {1, 9};
  llvm::Expected<Ensemble> other = align(context, {first, renamed}, options, {});
  ASSERT_TRUE(bool(other)) << llvm::toString(other.takeError());
  EXPECT_EQ(portsOf(mainOf(*other->module)).inputs, (std::vector<std::string>{"x", "z"}));
  // Another shape is a difference, and so is another number of inputs.
  graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(1);
  Failure failed = failureOf(align(context, {first, save("narrow.onnx")}, {}, {}));
  EXPECT_EQ(failed.code, 4);
  EXPECT_NE(failed.message.find("input 'right'"), std::string::npos) << failed.message;
  input("third", {4});
  failed = failureOf(align(context, {first, save("three.onnx")}, {}, {}));
  EXPECT_EQ(failed.code, 4);
  EXPECT_NE(failed.message.find("3 inputs"), std::string::npos) << failed.message;
}

} // namespace
} // namespace tutti::test
