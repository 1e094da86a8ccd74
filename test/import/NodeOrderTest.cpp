// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files whose nodes come in another order than they can be computed in.
#include "FileFixture.h"

namespace tutti::test {
namespace {

class NodeOrderTest : public FileTest {};

// A converter may append its casts at the end.
TEST_F(NodeOrderTest, Any) {
  input("x", {4});
  node("Relu", {"b"}, {"y"});
  output("y");
  node("Add", {"a", "c"}, {"b"});
  node("Tanh", {"x"}, {"a"});
  node("Neg", {"a"}, {"c"});
  std::string text = body();
  size_t at = 0;
  for (const char *op : {"tutti.tanh", "tutti.neg", "tutti.add", "tutti.relu"})
    EXPECT_NE(at = text.find(op, at), std::string::npos) << op << " in: " << text;
}

TEST_F(NodeOrderTest, CyclesHaveNone) {
  input("x", {4});
  node("Add", {"x", "b"}, {"a"});
  node("Tanh", {"a"}, {"b"});
  output("b");
  expectFailure(3, {"which nothing before it gives"});
}

// Each reads the one that follows.
TEST_F(NodeOrderTest, Reverse) {
  input("x", {4});
  constexpr int count = 20000;
  for (int i = count; i > 0; --i)
    node("Neg", {i == 1 ? "x" : "t" + std::to_string(i - 1)}, {"t" + std::to_string(i)});
  output("t" + std::to_string(count));
  EXPECT_NE(body().find("return"), std::string::npos);
}

// What a branch gives itself is another value than one of the same name that is computed of its result.
TEST_F(NodeOrderTest, NamesOfABranchAreItsOwn) {
  input("x", {4});
  onnx::TensorProto &truth = tensor("c", {});
  truth.set_data_type(9);
  truth.add_int32_data(1);
  onnx::NodeProto &choice = node("If", {"c"}, {"r"});
  for (const char *name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto &branch = *choice.add_attribute();
    branch.set_name(name);
    branch.set_type(onnx::AttributeProto::GRAPH);
    onnx::NodeProto &inner = *branch.mutable_g()->add_node();
    inner.set_op_type("Neg");
    inner.add_input("x");
    inner.add_output("t");
    branch.mutable_g()->add_output()->set_name("t");
  }
  node("Tanh", {"r"}, {"t"});
  node("Exp", {"t"}, {"y"});
  output("y");
  std::string text = body();
  size_t at = 0;
  for (const char *op : {"tutti.neg", "tutti.tanh", "tutti.exp"})
    EXPECT_NE(at = text.find(op, at), std::string::npos) << op << " in: " << text;
}

} // namespace
} // namespace tutti::test
