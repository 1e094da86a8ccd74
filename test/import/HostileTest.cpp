// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged and malicious files: an exit code and a message, whatever the bytes.
#include "Support.h"
#include "compiler/import/onnx/Importer.h"
#include "onnx.pb.h"

#include "llvm/Support/MemoryBuffer.h"

#include <numeric>
#include <random>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir;

namespace tutti::test {
namespace {

class HostileTest : public testing::Test {
protected:
  // A file in memory: thousands of rewrites of one on a disk take minutes.
  HostileTest() : fd(memfd_create("hostile.onnx", MFD_CLOEXEC)) { EXPECT_GE(fd, 0); }
  ~HostileTest() override { close(fd); }

  static std::string read(const std::string &file) {
    return llvm::MemoryBuffer::getFile(file).get()->getBuffer().str();
  }

  Failure import(StringRef bytes) {
    EXPECT_EQ(ftruncate(fd, 0), 0);
    EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
    return failureOf(importOnnx(context, "/proc/self/fd/" + std::to_string(fd), {}));
  }

  /// Whatever the file, one of the codes that a file can be the cause of.
  void expectCode(const Failure &failure) {
    EXPECT_TRUE(llvm::is_contained({0, 2, 3, 4, 7}, failure.code)) << failure.code << ": " << failure.message;
    EXPECT_EQ(failure.code == 0, failure.message.empty());
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  int fd;
};

TEST_F(HostileTest, EveryCut) {
  for (std::string name : {"shape-arithmetic.onnx", "layernorm~op.onnx", "typed-fields.onnx"}) {
    std::string bytes = read(input(name));
    for (size_t length = 0; length < bytes.size(); ++length) {
      Failure failure = import(StringRef(bytes).take_front(length));
      expectCode(failure);
    }
  }
}

TEST_F(HostileTest, EveryBit) {
  for (std::string name : {"shape-arithmetic.onnx", "slice-steps.onnx", "split-uneven.onnx"}) {
    std::string bytes = read(input(name));
    for (size_t at = 0; at < bytes.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = bytes;
        damaged[at] ^= 1 << bit;
        expectCode(import(damaged));
      }
  }
}

TEST_F(HostileTest, BytesReplaced) {
  std::mt19937 random(7);
  for (std::string name : {"constants.onnx", "layernorm~spelled.onnx", "gather-vector.onnx", "matmul-broadcast.onnx",
                           "reshape-zero.onnx", "softmax~old.onnx"}) {
    std::string bytes = read(input(name));
    for (int round = 0; round < 1500; ++round) {
      std::string damaged = bytes;
      for (unsigned i = 0; i < 1 + random() % 4; ++i)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      expectCode(import(damaged));
    }
  }
}

TEST_F(HostileTest, NoModels) {
  EXPECT_EQ(import("").code, 3);
  EXPECT_EQ(import("this is no model, it is a text of some length").code, 3);
  EXPECT_EQ(import(std::string(100000, '\0')).code, 3);
  EXPECT_EQ(import(std::string(100000, '\xff')).code, 3);
}

/// A model of one op over `x`, a float vector of 4.
onnx::ModelProto model(const std::string &op) {
  onnx::ModelProto model;
  model.add_opset_import()->set_version(13);
  onnx::GraphProto &graph = *model.mutable_graph();
  onnx::ValueInfoProto &x = *graph.add_input();
  x.set_name("x");
  x.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  x.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(4);
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  node.add_input("x");
  node.add_output("y");
  graph.add_output()->set_name("y");
  return model;
}

onnx::TensorProto &addTensor(onnx::ModelProto &model, const std::string &name, std::vector<int64_t> dims,
                             int type = 1) {
  onnx::TensorProto &tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  return tensor;
}

TEST_F(HostileTest, DimsThatLie) {
  for (std::vector<int64_t> dims :
       {std::vector<int64_t>{1LL << 62}, {1LL << 32, 1LL << 32}, {-4}, {5}, {3}, {INT64_MAX, INT64_MAX}, {INT64_MIN}}) {
    onnx::ModelProto lying = model("Add");
    lying.mutable_graph()->mutable_node(0)->add_input("w");
    addTensor(lying, "w", dims).set_raw_data(std::string(16, 'a'));
    Failure failure = import(lying.SerializeAsString());
    EXPECT_EQ(failure.code, 3) << failure.message;
    EXPECT_NE(failure.message.find("'w'"), std::string::npos) << failure.message;
  }
}

TEST_F(HostileTest, PlacesOfOurOwnAreNotBelieved) {
  onnx::ModelProto lying = model("Add");
  lying.mutable_graph()->mutable_node(0)->add_input("w");
  onnx::TensorProto &tensor = addTensor(lying, "w", {4});
  tensor.set_raw_offset(1ull << 40);
  tensor.set_raw_bytes(16);
  EXPECT_EQ(import(lying.SerializeAsString()).code, 3);
}

TEST_F(HostileTest, HugeExpandStaysSymbolic) {
  onnx::ModelProto huge = model("Expand");
  huge.mutable_graph()->mutable_node(0)->add_input("s");
  onnx::TensorProto &shape = addTensor(huge, "s", {3}, 7);
  for (int64_t dim : {1LL << 20, 1LL << 20, 4LL})
    shape.add_int64_data(dim);
  EXPECT_EQ(import(huge.SerializeAsString()).code, 0);
  shape.set_int64_data(0, 1LL << 60);
  expectCode(import(huge.SerializeAsString()));
}

/// Adds op(inputs) -> output to the model, which becomes its output.
onnx::NodeProto &append(onnx::ModelProto &model, const std::string &op, std::vector<std::string> inputs,
                        const std::string &output) {
  onnx::NodeProto &node = *model.mutable_graph()->add_node();
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  model.mutable_graph()->mutable_output(0)->set_name(output);
  return node;
}

void addInts(onnx::ModelProto &model, const std::string &name, std::vector<int64_t> values) {
  onnx::TensorProto &tensor = addTensor(model, name, {int64_t(values.size())}, 7);
  for (int64_t value : values)
    tensor.add_int64_data(value);
}

void addAttribute(onnx::NodeProto &node, const std::string &name, std::vector<int64_t> values) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute.add_ints(value);
}

/// RssAnon of this process at its peak may grow by so much while a small file is imported.
class MemoryBound {
public:
  explicit MemoryBound(int64_t mib) : mib(mib) { getrusage(RUSAGE_SELF, &before); }
  ~MemoryBound() {
    struct rusage after;
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT((after.ru_maxrss - before.ru_maxrss) / 1024, mib);
  }

private:
  int64_t mib;
  struct rusage before;
};

TEST_F(HostileTest, FoldsHaveABudget) {
  // Each would fold to 64 MiB, a second's work.
  onnx::ModelProto bomb = model("Relu");
  addTensor(bomb, "w", {1}).set_raw_data(std::string(4, 'a'));
  addInts(bomb, "s", {4096, 4096});
  append(bomb, "Expand", {"w", "s"}, "t0");
  for (int i = 0; i < 500; ++i)
    append(bomb, "Neg", {"t" + std::to_string(i)}, "t" + std::to_string(i + 1));
  MemoryBound bound(900);
  EXPECT_EQ(import(bomb.SerializeAsString()).code, 0);
}

TEST_F(HostileTest, ViewsThatCannotStayViews) {
  for (int type : {1, 7}) {
    onnx::ModelProto bomb = model("Relu");
    onnx::TensorProto &w = addTensor(bomb, "w", {2, 1}, type);
    w.set_raw_data(std::string(type == 1 ? 8 : 16, 'a'));
    addInts(bomb, "s", {2, 1 << 20, 1 << 20});
    addInts(bomb, "flat", {-1});
    append(bomb, "Expand", {"w", "s"}, "e");
    addAttribute(append(bomb, "Transpose", {"e"}, "t"), "perm", {1, 2, 0});
    append(bomb, "Reshape", {"t", "flat"}, "f");
    MemoryBound bound(100);
    expectCode(import(bomb.SerializeAsString()));
  }
}

TEST_F(HostileTest, AxesWithoutEnd) {
  onnx::ModelProto bomb = model("Relu");
  bomb.mutable_opset_import(0)->set_version(11);
  std::vector<int64_t> axes(300000);
  std::iota(axes.begin(), axes.end(), 0);
  addAttribute(append(bomb, "Unsqueeze", {"y"}, "z"), "axes", axes);
  EXPECT_EQ(import(bomb.SerializeAsString()).code, 4);
}

TEST_F(HostileTest, TheLongestAxisInTwo) {
  onnx::ModelProto longest = model("Split");
  longest.mutable_opset_import(0)->set_version(18);
  onnx::GraphProto &graph = *longest.mutable_graph();
  graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(
      INT64_MAX);
  graph.mutable_node(0)->add_output("z");
  onnx::AttributeProto &parts = *graph.mutable_node(0)->add_attribute();
  parts.set_name("num_outputs");
  parts.set_type(onnx::AttributeProto::INT);
  parts.set_i(2);
  Failure failure = import(longest.SerializeAsString());
  EXPECT_EQ(failure.message.find("do not make up"), std::string::npos) << failure.message;
  expectCode(failure);
}

TEST_F(HostileTest, NothingTimesAnything) {
  for (std::string op : {"Transpose", "Unique", "Abs", "ReduceSum", "Flatten"}) {
    onnx::ModelProto empty = model(op);
    addTensor(empty, "w", {0, int64_t(1) << 40, int64_t(1) << 40}).set_raw_data("");
    empty.mutable_graph()->mutable_node(0)->set_input(0, "w");
    expectCode(import(empty.SerializeAsString()));
  }
}

TEST_F(HostileTest, ProductsOfSizes) {
  onnx::ModelProto bomb = model("Relu");
  bomb.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("n");
  append(bomb, "Shape", {"x"}, "t0");
  for (int i = 0; i < 80; ++i)
    append(bomb, "Mul", {"t" + std::to_string(i), "t" + std::to_string(i)}, "t" + std::to_string(i + 1));
  append(bomb, "Reshape", {"x", "t80"}, "z");
  EXPECT_EQ(import(bomb.SerializeAsString()).code, 4);
}

TEST_F(HostileTest, NumbersThatATypeHasNot) {
  onnx::ModelProto bomb = model("IsInf");
  onnx::NodeProto &node = *bomb.mutable_graph()->mutable_node(0);
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("detect_negative");
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(0);
  bomb.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(2);
  Failure result = import(bomb.SerializeAsString());
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.message.find("the number inf beside elements of uint8"), std::string::npos) << result.message;
}

TEST_F(HostileTest, ElementTypesOfMoreBits) {
  const std::pair<const char *, const char *> attributes[] = {
      {"EyeLike", "dtype"}, {"Cast", "to"}, {"SequenceEmpty", "dtype"}, {"LayerNormalization", "stash_type"}};
  // In 32 bits each is float's number.
  for (auto [op, name] : attributes)
    for (int64_t number : {(int64_t(1) << 32) + 1, INT64_MIN + 1}) {
      SCOPED_TRACE(op);
      onnx::ModelProto bomb = model(op);
      bomb.mutable_opset_import(0)->set_version(17);
      onnx::NodeProto &node = *bomb.mutable_graph()->mutable_node(0);
      if (node.op_type() == "SequenceEmpty")
        node.clear_input();
      if (node.op_type() == "LayerNormalization")
        node.add_input("x");
      onnx::AttributeProto &attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::INT);
      attribute.set_i(number);
      Failure result = import(bomb.SerializeAsString());
      EXPECT_EQ(result.code, 4);
      EXPECT_NE(result.message.find("'" + std::string(name) + "' is data type " + std::to_string(number)),
                std::string::npos)
          << result.message;
    }
}

TEST_F(HostileTest, PadsThatNoSumHolds) {
  const std::pair<int64_t, int64_t> pads[] = {{INT64_MIN, -5},        {INT64_MIN, INT64_MIN}, {5, INT64_MIN},
                                              {INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MAX}, {-5, 0}};
  for (auto [before, behind] : pads) {
    onnx::ModelProto bomb = model("Pad");
    addInts(bomb, "p", {before, behind});
    bomb.mutable_graph()->mutable_node(0)->add_input("p");
    Failure result = import(bomb.SerializeAsString());
    EXPECT_EQ(result.code, 3) << before << " " << behind << ": " << result.message;
    EXPECT_NE(result.message.find("an axis of length 4 padded by " + std::to_string(before)), std::string::npos)
        << result.message;
  }
}

TEST_F(HostileTest, ManyFindings) {
  onnx::ModelProto bomb = model("Relu");
  onnx::NodeProto &sum = *bomb.mutable_graph()->add_node();
  for (int i = 0; i < 20000; ++i) {
    std::string number = std::to_string(i);
    onnx::NodeProto &node = append(bomb, "Op" + number, {"x"}, "u" + number);
    node.set_domain("domain" + number);
    sum.add_input("u" + number);
  }
  bomb.mutable_graph()->mutable_node()->SwapElements(1, 20001);
  bomb.mutable_graph()->mutable_node(20001)->set_op_type("Sum");
  bomb.mutable_graph()->mutable_node(20001)->add_output("z");
  bomb.mutable_graph()->mutable_output(0)->set_name("z");
  EXPECT_EQ(import(bomb.SerializeAsString()).code, 4);
}

TEST_F(HostileTest, GraphsInGraphs) {
  // If bodies in If bodies: more levels than a stack would like.
  std::string graph;
  auto field = [](int number, const std::string &bytes) {
    std::string head(1, static_cast<char>(number << 3 | 2));
    for (size_t length = bytes.size();; length >>= 7) {
      head.push_back(static_cast<char>((length & 127) | (length > 127 ? 128 : 0)));
      if (length <= 127)
        break;
    }
    return head + bytes;
  };
  for (int i = 0; i < 3000; ++i)
    graph = field(1, field(4, "If") + field(2, "y") + field(5, field(1, "then_branch") + field(6, graph)));
  expectCode(import(field(7, graph + field(12, field(1, "y"))) + field(8, "\x10\x0d")));
}

TEST_F(HostileTest, LongChains) {
  onnx::ModelProto chain = model("Relu");
  onnx::GraphProto &graph = *chain.mutable_graph();
  std::string last = "y";
  for (int i = 0; i < 50000; ++i) {
    onnx::NodeProto &node = *graph.add_node();
    node.set_op_type(i % 2 ? "Exp" : "Neg");
    node.add_input(last);
    node.add_output(last = "t" + std::to_string(i));
  }
  graph.mutable_output(0)->set_name(last);
  EXPECT_EQ(import(chain.SerializeAsString()).code, 0);
}

TEST_F(HostileTest, DoublingChains) {
  // y = x + x, sixty times over: a walk over all paths would never end.
  onnx::ModelProto chain = model("Relu");
  onnx::GraphProto &graph = *chain.mutable_graph();
  std::string last = "y";
  for (int i = 0; i < 60; ++i) {
    onnx::NodeProto &node = *graph.add_node();
    node.set_op_type("Add");
    node.add_input(last);
    node.add_input(last);
    node.add_output(last = "t" + std::to_string(i));
  }
  graph.mutable_output(0)->set_name(last);
  EXPECT_EQ(import(chain.SerializeAsString()).code, 0);
}

TEST_F(HostileTest, MemoryStaysWithTheFile) {
  // A file of nothing but empty nodes.
  std::string nodes;
  for (int i = 0; i < 1000000; ++i)
    nodes += std::string("\x0a\x00", 2);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  std::string file = "\x3a";
  for (size_t length = nodes.size();; length >>= 7) {
    file.push_back(static_cast<char>((length & 127) | (length > 127 ? 128 : 0)));
    if (length <= 127)
      break;
  }
  EXPECT_NE(import(file + nodes).code, 0);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 40 * 1024) << "KiB for a file of 2 MiB";
}

} // namespace
} // namespace tutti::test
