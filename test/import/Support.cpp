// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of the import tests.
#include "Support.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/onnx/Importer.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace tutti::test {

std::string model(const std::string &name) { return TUTTI_TEST_MODELS "/" + name; }
std::string input(const std::string &name) { return TUTTI_TEST_INPUTS "/" + name; }

std::vector<std::string> membersOf(const std::string &set) {
  auto file = llvm::MemoryBuffer::getFile(model(set) + "/set.json");
  EXPECT_TRUE(bool(file)) << set;
  llvm::Expected<llvm::json::Value> json = llvm::json::parse((*file)->getBuffer());
  std::vector<std::string> members;
  if (!json) {
    ADD_FAILURE() << llvm::toString(json.takeError());
    return members;
  }
  for (const llvm::json::Value &member : *json->getAsObject()->getArray("members"))
    members.push_back(model(set) + "/" + member.getAsString()->str());
  return members;
}

HostTensor readNpy(MLIRContext &context, const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    ADD_FAILURE() << path;
    return {};
  }
  StringRef bytes = (*file)->getBuffer();
  size_t length = static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  StringRef header = bytes.substr(10, length);
  Type element;
  Builder builder(&context);
  for (auto [code, type] : {std::pair<StringRef, Type>("'<f4'", builder.getF32Type()),
                            {"'<f8'", builder.getF64Type()},
                            {"'<i8'", builder.getI64Type()},
                            {"'|b1'", builder.getI1Type()}})
    if (header.contains(code))
      element = type;
  EXPECT_TRUE(element && header.contains("'fortran_order': False")) << header.str();
  StringRef shape = header.split('(').second.split(')').first;
  SmallVector<StringRef> parts;
  shape.split(parts, ',', -1, false);
  SmallVector<int64_t> dims;
  for (StringRef part : parts) {
    int64_t dim;
    if (!part.trim().getAsInteger(10, dim))
      dims.push_back(dim);
  }
  return HostTensor::fromBytes(element, dims, bytes.data() + 10 + length);
}

std::map<std::string, HostTensor> evaluate(ModuleOp module, const std::map<std::string, HostTensor> &inputs,
                                           std::function<HostTensor(StringRef)> param, bool plain) {
  func::FuncOp main = mainOf(module);
  Ports ports = portsOf(main);
  EvaluateContext context;
  context.param = param;
  context.plain = plain;
  DenseMap<Value, HostTensor> values;
  for (auto [i, name] : llvm::enumerate(ports.inputs)) {
    const HostTensor &tensor = inputs.at(name);
    values[main.getArgument(i)] = tensor;
    for (auto [size, dim] : llvm::zip_equal(getSizes(ports.types[i]), tensor.dims))
      if (!size.isFixed())
        context.sizes[size.getSymbols()[0]] = dim;
  }
  for (Operation &op : main.getBody().front().without_terminator()) {
    SmallVector<HostTensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values[operand]);
    FailureOr<HostTensor> result = cast<EvaluateOpInterface>(op).evaluate(context, operands);
    if (failed(result)) {
      ADD_FAILURE() << op.getName().getStringRef().str();
      return {};
    }
    EXPECT_EQ(result->dims, context.dimsOf(cast<RankedTensorType>(op.getResult(0).getType())))
        << op.getName().getStringRef().str();
    values[op.getResult(0)] = *result;
  }
  std::map<std::string, HostTensor> outputs;
  Operation *end = main.getBody().front().getTerminator();
  for (auto [name, value] : llvm::zip_equal(ports.outputs, end->getOperands()))
    outputs[name] = values[value];
  return outputs;
}

std::map<std::string, HostTensor> evaluate(Ensemble &ensemble, size_t m,
                                           const std::map<std::string, HostTensor> &inputs) {
  return evaluate(*ensemble.module, inputs, [&](StringRef symbol) {
    const std::vector<WeightSource> &sources = ensemble.weights[symbol];
    return toHost(sources[sources.size() == 1 ? 0 : m]);
  });
}

std::map<std::string, HostTensor> evaluate(MemberModel &member, const std::map<std::string, HostTensor> &inputs,
                                           bool plain) {
  return evaluate(*member.module, inputs, [&](StringRef symbol) { return toHost(member.weights[symbol]); }, plain);
}

size_t countOps(ModuleOp module, StringRef name) {
  size_t count = 0;
  mainOf(module).walk([&](Operation *op) { count += op->getName().getStringRef() == name; });
  return count;
}

std::string str(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

} // namespace tutti::test
