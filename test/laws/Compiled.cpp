// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a model's text to an artifact in memory, and calls of it.
#include "Compiled.h"

#include "compiler/import/WeightSource.h"
#include "dialects/tutti/Ports.h"
#include "runtime/core/Check.h"
#include "runtime/core/Session.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace mlir;

namespace tutti::laws {

static llvm::Error failed(const tutti_error_t &error) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s: %s", tutti_status_name(error.status),
                                 error.message);
}

const Architecture *cudaTarget() {
  static const Architecture *const target = []() -> const Architecture * {
    const char *name = std::getenv("TUTTI_LAWS_TARGET");
    const Architecture *found = name ? findArchitecture(name) : nullptr;
    if (name && !found)
      llvm::report_fatal_error("TUTTI_LAWS_TARGET: unknown architecture", /*gen_crash_diag=*/false);
    return found;
  }();
  return target;
}

const std::string &cudaPrecision() {
  static const std::string precision = [] {
    const char *name = std::getenv("TUTTI_LAWS_PRECISION");
    return std::string(name ? name : "f32-ffma");
  }();
  return precision;
}

llvm::Expected<CompileResult> compile(const Model &model, const CompileRequest &request) {
  // A size that no input has would have to be set by hand.
  std::string text = "module attributes {tutti.members = " + std::to_string(model.members) + " : i64, tutti.sizes = {" +
                     (model.hasBatch() ? "batch = array<i64: 1, " + std::to_string(model.mostRows) + ">" : "") +
                     "}} {\n" + model.text + "}";
  Ensemble ensemble;
  ensemble.module = parseModule(text);
  if (!ensemble.module)
    return llvm::createStringError("the module does not parse");
  for (int64_t m = 0; m < model.members; ++m)
    ensemble.members.push_back({"m" + std::to_string(m), "m" + std::to_string(m), 0});
  for (auto param : ensemble.module->getOps<ParamOp>()) {
    for (const HostTensor &value : model.params.at(param.getSymName().str())) {
      WeightSource source = computedSource(value);
      source.name = param.getSymName().str();
      ensemble.weights[param.getSymName()].push_back(source);
    }
    param.setPerMember(model.params.at(param.getSymName().str()).size() > 1 || model.members == 1);
  }
  auto main = ensemble.module->lookupSymbol<func::FuncOp>("main");
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    setInputName(main, i, "x" + Twine(i));
    if (model.ownInputs)
      setPerMember(main, i);
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    setOutputName(main, i, "y" + Twine(i));

  return tutti::compile(request, std::move(ensemble));
}

llvm::Expected<std::unique_ptr<Artifact>> Artifact::compile(const Model &model) {
  SmallString<128> path;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("law", "tutti", path))
    return llvm::createStringError(code, "no temporary file");
  llvm::FileRemover remover(path);
  CompileRequest request;
  request.output = path.str().str();
  bool runs = !cudaTarget() || cudaTarget()->code == Architecture::Code::emulated || hasGpu();
  if (runs && (!cudaTarget() || hasCpuBits()))
    request.levels = model.levels;
  if (cudaTarget()) {
    request.cudaTargets.push_back(cudaTarget());
    request.precision = *symbolizePrecision(cudaPrecision());
  }
  llvm::Expected<CompileResult> result = laws::compile(model, request);
  if (!result)
    return result.takeError();
  return open(request.output); // the mapping outlives the file's name
}

llvm::Expected<std::unique_ptr<Artifact>> Artifact::open(const std::string &path) {
  auto artifact = std::make_unique<Artifact>();
  tutti_error_t error{};
  if (tutti_artifact_open(path.c_str(), &artifact->handle, &error))
    return failed(error);
  return artifact;
}

Artifact::~Artifact() { tutti_artifact_close(handle); }

static tutti_dtype_t dtypeOf(Type type) {
  if (type.isF16() || type.isBF16())
    return type.isF16() ? TUTTI_F16 : TUTTI_BF16;
  if (isa<FloatType>(type))
    return type.isF32() ? TUTTI_F32 : TUTTI_F64;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return TUTTI_BOOL;
  case 8:
    return isUnsigned ? TUTTI_U8 : TUTTI_I8;
  case 16:
    return isUnsigned ? TUTTI_U16 : TUTTI_I16;
  case 32:
    return isUnsigned ? TUTTI_U32 : TUTTI_I32;
  default:
    return isUnsigned ? TUTTI_U64 : TUTTI_I64;
  }
}

static Type typeOf(tutti_dtype_t dtype) {
  Builder builder(&context());
  switch (dtype) {
  case TUTTI_F16:
    return builder.getF16Type();
  case TUTTI_BF16:
    return builder.getBF16Type();
  case TUTTI_F32:
    return builder.getF32Type();
  case TUTTI_F64:
    return builder.getF64Type();
  case TUTTI_BOOL:
    return builder.getI1Type();
  case TUTTI_U8:
  case TUTTI_U16:
  case TUTTI_U32:
  case TUTTI_U64:
    return builder.getIntegerType(tutti_dtype_bits(dtype), /*isSigned=*/false);
  default:
    return builder.getIntegerType(tutti_dtype_bits(dtype));
  }
}

static tutti_device_t cudaDevice() {
  return cudaTarget()->code == Architecture::Code::emulated ? TUTTI_DEVICE_EMULATED : TUTTI_DEVICE_CUDA;
}

bool Artifact::runs() const {
  if (!cudaTarget())
    return true;
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  options.device = cudaDevice();
  tutti_error_t error{};
  return tutti_artifact_choose_device(handle, &options, &error) != TUTTI_NO_DEVICE;
}

bool hasGpu() { return dlopen("libcuda.so.1", RTLD_NOW) != nullptr; }

/// A GPU's context ends with the last session in it, and to begin another takes longer than most laws: this one stays.
static void keepContext() {
  static const bool kept = [] {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = nullptr;
    auto *retain =
        driver ? reinterpret_cast<int (*)(void **, int)>(dlsym(driver, "cuDevicePrimaryCtxRetain")) : nullptr;
    return retain && retain(&context, 0) == 0;
  }();
  (void)kept;
}

llvm::Expected<std::vector<HostTensor>> Artifact::run(ArrayRef<HostTensor> inputs, const Call &call) const {
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  options.threads = call.threads;
  if (call.level.empty())
    options.device = cudaDevice();
  else
    options.device = TUTTI_DEVICE_CPU, options.target = call.level.c_str();
  tutti_session_t *session = nullptr;
  tutti_error_t error{};
  if (tutti_artifact_choose_device(handle, &options, &error) ||
      tutti_session_create(handle, &options, &session, &error))
    return failed(error);
  std::unique_ptr<tutti_session_t, void (*)(tutti_session_t *)> owner(session, tutti_session_destroy);
  if (options.device == TUTTI_DEVICE_CUDA)
    keepContext();
  auto said = [&](tutti_status_t status) {
    return llvm::createStringError("%s: %s", tutti_status_name(status), tutti_session_message(session));
  };
  if (!call.active.empty())
    if (tutti_status_t status = tutti_session_set_active(session, call.active.data(), call.active.size()))
      return said(status);
  if (call.batch)
    if (tutti_status_t status = tutti_session_set_dimension(session, "batch", call.batch))
      return said(status);
  std::vector<std::vector<char>> bytes;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    bytes.emplace_back(input.count() * 8 + 8);
    input.toBytes(bytes.back().data());
    std::string name = "x" + std::to_string(i);
    tutti_tensor_t tensor{name.c_str(),
                          dtypeOf(input.element),
                          static_cast<int32_t>(input.dims.size()),
                          input.dims.data(),
                          nullptr,
                          bytes.back().data(),
                          TUTTI_MEMORY_HOST};
    if (tutti_status_t status = tutti_session_bind_input(session, &tensor))
      return said(status);
  }
  // Outputs lie in memory of ours, with bytes behind them that nobody may write.
  constexpr size_t guard = 64;
  constexpr char untouched = 0x5a;
  const tutti_program_t &program = tutti_artifact_info(handle)->programs[options.program];
  std::vector<std::vector<char>> memory(program.num_outputs);
  std::vector<HostTensor> results(program.num_outputs);
  for (auto [i, own, result] : llvm::enumerate(memory, results)) {
    tutti_tensor_t tensor;
    const char *head = program.outputs[i].head;
    if (tutti_status_t status = tutti_session_get_output(session, program.outputs[i].name, head, &tensor))
      return said(status);
    result = HostTensor::zeros(typeOf(tensor.dtype), ArrayRef(tensor.dims, tensor.rank));
    size_t bytes = result.count() * std::max<size_t>(1, tutti_dtype_bits(tensor.dtype) / 8);
    own.assign(bytes + guard, untouched);
    tensor.data = own.data();
    tensor.memory = TUTTI_MEMORY_HOST;
    if (tutti_status_t status = tutti_session_bind_output(session, head, &tensor))
      return said(status);
  }
  rt::unwrap(session)->takeStrips(call.strips ? rt::Call::InStrips::always : rt::Call::InStrips::whereFaster);
  if (tutti_status_t ran = tutti_session_run(session))
    return said(ran);
  for (auto [own, result] : llvm::zip_equal(memory, results)) {
    if (llvm::any_of(ArrayRef(own).take_back(guard), [](char byte) { return byte != untouched; }))
      return llvm::createStringError("a result is written past its end");
    result = HostTensor::fromBytes(result.element, SmallVector<int64_t>(result.dims), own.data());
  }
  return results;
}

OwningOpRef<ModuleOp> parseModule(const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
  EXPECT_TRUE(module) << "does not parse: " << text;
  return module;
}

HostTensor take(const HostTensor &tensor, int64_t axis, ArrayRef<int64_t> places) {
  SmallVector<int64_t> dims = tensor.dims;
  dims[axis] = places.size();
  HostTensor part = HostTensor::zeros(tensor.element, dims);
  int64_t inner = tensor.strides()[axis], length = tensor.dims[axis];
  for (int64_t i = 0, count = part.count(); i < count; ++i) {
    int64_t along = i / inner % dims[axis], outer = i / inner / dims[axis];
    int64_t from = (outer * length + places[along]) * inner + i % inner;
    if (part.isFloat())
      part.floats[i] = tensor.floats[from];
    else
      part.ints[i] = tensor.ints[from];
  }
  return part;
}

HostTensor choose(const HostTensor &lifted, ArrayRef<uint32_t> members) {
  return take(lifted, 0, SmallVector<int64_t>(members.begin(), members.end()));
}

} // namespace tutti::laws
