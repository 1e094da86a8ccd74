// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models made by a test, node by node, and what their import says.
#ifndef TUTTI_TEST_IMPORT_FILEFIXTURE_H
#define TUTTI_TEST_IMPORT_FILEFIXTURE_H

#include "Support.h"
#include "compiler/import/onnx/Importer.h"
#include "onnx.pb.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <variant>

namespace tutti::test {

using Dim = std::variant<int64_t, std::string>;

class FileTest : public testing::Test {
protected:
  FileTest() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("tutti-import", folder));
    model.add_opset_import()->set_version(18);
  }
  ~FileTest() override { llvm::sys::fs::remove_directories(folder); }

  onnx::GraphProto &graph() { return *model.mutable_graph(); }
  onnx::NodeProto &node(const std::string &op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    onnx::NodeProto &node = *graph().add_node();
    node.set_op_type(op);
    node.set_name("the_" + op);
    for (const std::string &input : inputs)
      node.add_input(input);
    for (const std::string &output : outputs)
      node.add_output(output);
    return node;
  }
  void input(const std::string &name, std::vector<Dim> dims, int type = 1) {
    onnx::ValueInfoProto &input = *graph().add_input();
    input.set_name(name);
    onnx::TypeProto::Tensor &tensor = *input.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const Dim &dim : dims) {
      onnx::TensorShapeProto::Dimension &each = *tensor.mutable_shape()->add_dim();
      if (auto *value = std::get_if<int64_t>(&dim))
        each.set_dim_value(*value);
      else if (!std::get<std::string>(dim).empty())
        each.set_dim_param(std::get<std::string>(dim));
    }
  }
  void output(const std::string &name) { graph().add_output()->set_name(name); }
  onnx::TensorProto &tensor(const std::string &name, std::vector<int64_t> dims) {
    onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(1);
    for (int64_t dim : dims)
      tensor.add_dims(dim);
    return tensor;
  }
  onnx::TensorProto &ints(const std::string &name, std::vector<int64_t> values) {
    onnx::TensorProto &t = tensor(name, {int64_t(values.size())});
    t.set_data_type(7);
    for (int64_t value : values)
      t.add_int64_data(value);
    return t;
  }

  std::string path(const std::string &name) { return (folder + "/" + name).str(); }
  std::string write(const std::string &name, llvm::StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream(path(name), error) << bytes;
    return path(name);
  }
  std::string save(const std::string &name = "model.onnx") { return write(name, model.SerializeAsString()); }

  Failure failure(const ImportOptions &options = {}) { return failureOf(importOnnx(context, save(), options)); }
  void expectFailure(int code, std::vector<std::string> parts, const ImportOptions &options = {}) {
    Failure failed = failure(options);
    EXPECT_EQ(failed.code, code) << failed.message;
    for (const std::string &part : parts)
      EXPECT_NE(failed.message.find(part), std::string::npos) << part << " in: " << failed.message;
  }
  /// The argument types of main, as text.
  std::string types(const ImportOptions &options = {}) {
    return textOf(options, [](mlir::func::FuncOp main, llvm::raw_ostream &out) { out << main.getFunctionType(); });
  }
  /// All of main, as text.
  std::string body(const ImportOptions &options = {}) {
    return textOf(options, [](mlir::func::FuncOp main, llvm::raw_ostream &out) { out << main; });
  }

  /// y = x + w, w of 4 floats that lie elsewhere.
  void external(const std::string &location, const std::string &offset = "", const std::string &length = "") {
    input("x", {4});
    node("Add", {"x", "w"}, {"y"});
    output("y");
    onnx::TensorProto &w = tensor("w", {4});
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    auto entry = [&](const char *key, const std::string &value) {
      if (value.empty())
        return;
      w.add_external_data()->set_key(key);
      w.mutable_external_data(w.external_data_size() - 1)->set_value(value);
    };
    entry("location", location);
    entry("offset", offset);
    entry("length", length);
  }

private:
  std::string textOf(const ImportOptions &options,
                     llvm::function_ref<void(mlir::func::FuncOp main, llvm::raw_ostream &out)> print) {
    llvm::Expected<MemberModel> member = importOnnx(context, save(), options);
    if (!member)
      return llvm::toString(member.takeError());
    std::string text;
    llvm::raw_string_ostream out(text);
    print(mainOf(*member->module), out);
    return text;
  }

protected:
  mlir::MLIRContext context;
  llvm::SmallString<128> folder;
  onnx::ModelProto model;
};

} // namespace tutti::test

#endif
