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
  void expectRefused() { expectFailure(4, {"numbers of the rows", "'N'", "its place", "--dim N=VALUE"}); }
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
  onnx::NodeProto &cast = node("Cast", {"c"}, {"f"});
  onnx::AttributeProto &to = *cast.add_attribute();
  to.set_name("to");
  to.set_type(onnx::AttributeProto::INT);
  to.set_i(1);
  node("Add", {"x", "f"}, {"y"});
  expectFailure(4, {"Cast", "numbers of the rows", "'N'", "its place", "--dim N=VALUE"});
}

TEST_F(RowsTest, MayNotChooseInAnotherRow) {
  ints("i", {4}).clear_dims();
  chosen("i");
  expectRefused();
  onnx::TensorProto &i = *graph().mutable_initializer(graph().initializer_size() - 1);
  i.set_int64_data(0, -1);
  expectRefused();
  i.set_int64_data(0, 3);
  EXPECT_EQ(failure().code, 0);
}

TEST_F(RowsTest, MayNotChooseByWhatACallerGives) {
  input("i", {std::string("N")}, 7);
  chosen("i");
  expectRefused();
}

TEST_F(RowsTest, MayNotChooseNeighbours) {
  node("Add", {"r", "one"}, {"next"});
  node("Gather", {"x", "next"}, {"y"});
  expectRefused();
}

TEST_F(RowsTest, StandFirstInATuple) {
  node("Unsqueeze", {"r", "second"}, {"c"});
  onnx::NodeProto &join = node("Concat", {"c", "c"}, {"t"});
  onnx::AttributeProto &axis = *join.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(1);
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
