// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of rows that would decide a result: refused, and said why.
#include "FileFixture.h"

namespace tutti::test {
namespace {

class RowsTest : public FileTest {
protected:
  /// r: the numbers of the rows of x, (N, 4).
  RowsTest() {
    input("x", {std::string("N"), 4});
    output("y");
    for (auto [name, number] : {std::pair("zero", 0), std::pair("one", 1), std::pair("four", 4)})
      ints(name, {number}).clear_dims();
    ints("first", {0});
    ints("second", {1});
    ints("flat", {-1});
    node("Shape", {"x"}, {"s"});
    node("Gather", {"s", "zero"}, {"n"});
    node("Range", {"zero", "n", "one"}, {"r"});
  }
  static void setInt(onnx::NodeProto &node, const std::string &name, int64_t value) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  /// Zeros of a shape that no file could hold.
  void zeros(const std::string &name, std::vector<int64_t> sizes) {
    ints(name + " sizes", sizes);
    onnx::AttributeProto &value = *node("ConstantOfShape", {name + " sizes"}, {name}).add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    value.mutable_t()->set_data_type(7);
    value.mutable_t()->add_dims(1);
    value.mutable_t()->add_int64_data(0);
  }
  /// t: of the row's number and 2.
  void tuples() {
    ints("two", {2});
    node("Unsqueeze", {"n", "first"}, {"rows"});
    setInt(node("Concat", {"rows", "second"}, {"shape"}), "axis", 0);
    node("Expand", {"two", "shape"}, {"place"});
    node("Unsqueeze", {"r", "second"}, {"c"});
    setInt(node("Concat", {"c", "place"}, {"t"}), "axis", 1);
  }
  void expectRefused() { expectFailure(4, {"numbers of the rows", "'N'", "its place", "--dim N=VALUE"}); }
  void expectUnbounded(int64_t places = 4) {
    expectFailure(4, {"'N'", "not known to stay", std::to_string(places) + " places",
                      "0 to " + std::to_string(places - 1), "Clip", "--dim N=VALUE"});
  }
  /// Elements of x behind each other, at 4 r + i.
  void chosen(const std::string &i) {
    node("Mul", {"r", "four"}, {"begin"});
    node("Add", {"begin", i}, {"at"});
    node("Reshape", {"x", "flat"}, {"all"});
    node("Gather", {"all", "at"}, {"y"});
  }
};

TEST_F(RowsTest, AreNoResults) {
  node("Identity", {"r"}, {"y"});
  expectFailure(4, {"output 'y'", "numbers of the rows", "'N'", "--dim N=VALUE"});
}

TEST_F(RowsTest, AreNoNumbersToComputeWith) {
  node("Unsqueeze", {"r", "second"}, {"c"});
  setInt(node("Cast", {"c"}, {"f"}), "to", 1);
  node("Add", {"x", "f"}, {"y"});
  expectFailure(4, {"Cast", "numbers of the rows", "'N'", "its place", "--dim N=VALUE"});
}

TEST_F(RowsTest, MayNotChooseInAnotherRow) {
  ints("i", {4}).clear_dims();
  chosen("i");
  expectUnbounded();
  onnx::TensorProto &i = *graph().mutable_initializer(graph().initializer_size() - 1);
  i.set_int64_data(0, -1);
  expectUnbounded();
  i.set_int64_data(0, 3);
  EXPECT_EQ(failure().code, 0);
}

TEST_F(RowsTest, MayNotChooseByWhatACallerGives) {
  input("i", {std::string("N")}, 7);
  chosen("i");
  expectUnbounded();
}

TEST_F(RowsTest, AreKnownFromWhatIndicesAreMadeOf) {
  input("i", {std::string("N")}, 7);
  ints("least", {1}).clear_dims();
  ints("most", {4}).clear_dims();
  node("Clip", {"i", "least", "most"}, {"k"});
  node("Sub", {"k", "one"}, {"b"});
  chosen("b");
  EXPECT_EQ(failure().code, 0);
  onnx::TensorProto &most = *graph().mutable_initializer(graph().initializer_size() - 1);
  most.set_int64_data(0, 5);
  expectUnbounded();
}

TEST_F(RowsTest, AreNotKnownWhereASumMayWrap) {
  input("i", {std::string("N")}, 7);
  ints("least", {std::numeric_limits<int64_t>::max()}).clear_dims();
  node("Max", {"i", "least"}, {"k"});
  node("Add", {"k", "one"}, {"b"});
  chosen("b");
  expectUnbounded();
}

TEST_F(RowsTest, MayNotChooseNeighbours) {
  node("Add", {"r", "one"}, {"next"});
  node("Gather", {"x", "next"}, {"y"});
  expectRefused();
}

TEST_F(RowsTest, MayNotChooseByPlacesOfANarrowType) {
  input("z", {std::string("N"), 300});
  setInt(node("ArgMax", {"z"}, {"a"}), "axis", 1);
  setInt(node("Cast", {"a"}, {"narrow"}), "to", 3);
  setInt(node("Cast", {"narrow"}, {"i"}), "to", 7);
  ints("many", {300}).clear_dims();
  node("Mul", {"r", "many"}, {"begin"});
  node("Unsqueeze", {"begin", "second"}, {"c"});
  node("Add", {"c", "i"}, {"at"});
  node("Reshape", {"z", "flat"}, {"all"});
  node("Gather", {"all", "at"}, {"y"});
  expectUnbounded(300);
}

TEST_F(RowsTest, MayNotChooseByMorePlacesThanAreLookedAt) {
  zeros("i", {int64_t(1) << 33, 1});
  chosen("i");
  expectUnbounded();
}

TEST_F(RowsTest, AreNotComparedWhereTheyCouldWrap) {
  ints("much", {int64_t(1) << 62}).clear_dims();
  node("Mul", {"r", "much"}, {"wrapped"});
  node("Less", {"wrapped", "zero"}, {"y"});
  expectRefused();
}

TEST_F(RowsTest, BroadcastToNoMoreThanThereAreNumbers) {
  zeros("columns", {1, 1 << 20});
  zeros("more", {1 << 24, 1 << 20, 1, 1});
  node("Unsqueeze", {"r", "second"}, {"c"});
  node("Add", {"c", "columns"}, {"wide"});
  node("Add", {"wide", "more"}, {"y"});
  expectFailure(4, {"a tensor of shape (16777216, 1048576, N, 1048576)"});
}

TEST_F(RowsTest, OfATableBindNothing) {
  tensor("table", {5, 4}).mutable_float_data()->Resize(20, 1);
  node("Gather", {"table", "r"}, {"y"});
  expectRefused();
}

TEST_F(RowsTest, OfATableBindNothingInTuples) {
  tensor("table", {5, 4}).mutable_float_data()->Resize(20, 1);
  tuples();
  node("GatherND", {"table", "t"}, {"y"});
  expectFailure(4, {"axis 0 of x, 5, and of the indices, N, fit only for some sizes"});
}

TEST_F(RowsTest, InTuplesNeedAxesForThem) {
  tensor("number", {}).add_float_data(1);
  tensor("u", {}).add_float_data(1);
  tuples();
  node("ScatterND", {"number", "t", "u"}, {"y"});
  expectFailure(3, {"tuples of 2 indices into 0 axes"});
}

TEST_F(RowsTest, PutNoSlicesOfAnUnknownLength) {
  input("z", {std::string("N"), 4, std::string("M"), 5});
  input("u", {std::string("N"), std::string("M"), 5});
  tuples();
  node("ScatterND", {"z", "t", "u"}, {"y"});
  ImportOptions options;
  options.dims = {{"N", {1, 8}}, {"M", {2, 4}}};
  expectFailure(4, {"puts slices of dimension 'M'", "--dim M=VALUE"}, options);
}

TEST_F(RowsTest, AreOfNoInputsLongerThanThereAreNumbers) {
  constexpr int64_t many = int64_t(1) << 40;
  input("z", {std::string("N"), 4, many, many});
  input("u", {std::string("N"), many, many});
  tuples();
  node("ScatterND", {"z", "t", "u"}, {"y"});
  expectFailure(4, {"input 'z'", "more elements than any memory holds"});
}

// Whoever looks at a part as often as it is there looks 2^30 times.
TEST_F(RowsTest, AreBesidePlacesOfManyEqualParts) {
  ints("place", {2});
  ints("last", {-1});
  node("Unsqueeze", {"n", "first"}, {"rows"});
  setInt(node("Concat", {"rows", "second", "second"}, {"shape"}), "axis", 0);
  node("Expand", {"place", "shape"}, {"p0"});
  std::string places = "p0";
  for (int i = 1; i <= 30; ++i) {
    std::string twice = "p" + std::to_string(i);
    setInt(node("Concat", {places, places}, {twice}), "axis", 1);
    places = twice;
  }
  node("Unsqueeze", {"r", "second"}, {"c"});
  node("Unsqueeze", {"c", "last"}, {"d"});
  node("Shape", {places}, {"all"});
  node("Expand", {"d", "all"}, {"e"});
  setInt(node("Concat", {"e", places}, {"t"}), "axis", 2);
  node("GatherND", {"x", "t"}, {"y"});
  EXPECT_EQ(failure().code, 0);
}

TEST_F(RowsTest, StandFirstInATuple) {
  node("Unsqueeze", {"r", "second"}, {"c"});
  setInt(node("Concat", {"c", "c"}, {"t"}), "axis", 1);
  node("GatherND", {"x", "t"}, {"y"});
  expectRefused();
}

TEST_F(RowsTest, OfAnotherKindAreUnknownLengths) {
  node("Range", {"one", "n", "one"}, {"t"});
  node("Gather", {"x", "t"}, {"y"});
  expectFailure(4, {"runs along", "'N'"});
}

} // namespace
} // namespace tutti::test
