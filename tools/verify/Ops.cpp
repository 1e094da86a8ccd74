// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Op by op on equal inputs.
#include "Ops.h"
#include "Perturbed.h"
#include "Precision.h"
#include "Undecided.h"

#include "compiler/import/WeightSource.h"
#include "dialects/tutti/Ports.h"
#include "dialects/tutti/Tutti.h"
#include "tutti/tutti.hpp"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace mlir;

namespace tutti {

namespace {

class Comparison {
public:
  Comparison(MLIRContext &context, const OpRequest &request, Ensemble ensemble)
      : context(context), request(request), ensemble(std::move(ensemble)), main(mainOf(*this->ensemble.module)) {
    for (const auto &[name, size] : request.sizes)
      sizes[name] = size;
  }

  llvm::Expected<std::vector<OpRow>> run() {
    for (auto [argument, name] : llvm::zip_equal(main.getArguments(), request.ports.inputs))
      values[argument] = request.inputs.at(name);
    for (Operation &op : main.getBody().front().without_terminator()) {
      auto exact = evaluateOp(op, Evaluation::exact);
      if (!exact)
        return exact.takeError();
      if (!isa<GetOp, ConstantOp>(op))
        if (llvm::Error error = compare(op, *exact))
          return std::move(error);
      // The next op starts from what its type can hold, so that no error adds to another.
      for (HostTensor &tensor : *exact)
        for (double &value : tensor.floats)
          value = nearest(value, tensor.element);
      values[op.getResult(0)] = std::move(*exact);
      if (request.stopAtFirst && !rows.empty() && !rows.back().verdict.ok)
        break;
    }
    return std::move(rows);
  }

private:
  using Tensors = std::vector<HostTensor>;
  enum class Evaluation { exact, plain, perturbed };

  size_t members() const { return ensemble.members.size(); }
  bool isLifted(Value value) const { return values.find(value)->second.size() > 1; }
  const HostTensor &valueOf(Value value, size_t member) const {
    const Tensors &tensors = values.find(value)->second;
    return tensors[tensors.size() > 1 ? member : 0];
  }

  /// One result if the op is the same for all members, else one each.
  llvm::Expected<Tensors> evaluateOp(Operation &op, Evaluation kind) {
    bool lifted = llvm::any_of(op.getOperands(), [&](Value operand) { return isLifted(operand); });
    if (auto get = dyn_cast<GetOp>(op))
      lifted = ensemble.weights[get.getParam()].size() > 1;
    DiagnosticCapture diagnostics(&context);
    Tensors results;
    std::minstd_rand random;
    for (size_t m = 0; m < (lifted ? members() : 1); ++m) {
      EvaluateContext evaluation;
      evaluation.plain = kind != Evaluation::exact;
      evaluation.float64Bits = plainFloat64Bits;
      evaluation.sizes = sizes;
      evaluation.param = [&](StringRef symbol) { return toHost(ensemble.weights[symbol][m]); };
      std::vector<HostTensor> operands;
      for (Value operand : op.getOperands()) {
        operands.push_back(valueOf(operand, m));
        if (kind == Evaluation::perturbed && !operand.getDefiningOp<ConstantOp>())
          perturb(operands.back(), random);
      }
      if (evaluation.plain)
        roundOperands(op, request.precision, operands);
      FailureOr<HostTensor> result = cast<EvaluateOpInterface>(op).evaluate(evaluation, operands);
      if (failed(result))
        return fail(ExitCode::unsupported, quote(op.getName().getStringRef()) + " " + diagnostics.take());
      results.push_back(std::move(*result));
    }
    return results;
  }

  llvm::Error compare(Operation &op, const Tensors &exact) {
    auto plain = evaluateOp(op, Evaluation::plain);
    if (!plain)
      return plain.takeError();
    bool hasFewErrors = computes(op) && !chooses(op) && double(exact.size() * exact.front().count()) < fewErrors;
    auto perturbed = hasFewErrors ? evaluateOp(op, Evaluation::perturbed) : *plain;
    if (!perturbed)
      return perturbed.takeError();
    std::vector<Answer> answers;
    for (size_t m = 0; m < members(); ++m) {
      size_t at = exact.size() > 1 ? m : 0;
      answers.push_back(
          {exact[at], (*plain)[at], exact[at], (*perturbed)[at], isa<ContractOp>(op), unitOf(request.precision)});
    }
    Answer whole = stack(std::move(answers));
    auto got = runCompiled(op, whole.exact);
    if (!got)
      return got.takeError();
    rows.push_back({op.getName().stripDialect().str(), describe(op.getLoc()), judge(*got, whole)});
    return llvm::Error::success();
  }

  /// The op alone as an ensemble: weights and constants stay what they are, all other operands become inputs x0, x1 ...
  Ensemble single(Operation &op, SmallVectorImpl<Value> &inputs) {
    OpBuilder builder(&context);
    Ensemble one;
    one.members = ensemble.members;
    one.module = ModuleOp::create(op.getLoc());
    for (NamedAttribute attribute : ensemble.module.get()->getAttrs())
      one.module.get()->setAttr(attribute.getName(), attribute.getValue());
    builder.setInsertionPointToEnd(one.module->getBody());
    SymbolTable symbols(*ensemble.module);
    for (Value operand : op.getOperands())
      if (auto get = operand.getDefiningOp<GetOp>()) {
        if (one.weights.try_emplace(get.getParam(), ensemble.weights[get.getParam()]).second)
          builder.clone(*symbols.lookup(get.getParam()));
      } else if (!operand.getDefiningOp<ConstantOp>() && !llvm::is_contained(inputs, operand)) {
        inputs.push_back(operand);
      }
    auto function = func::FuncOp::create(
        builder, op.getLoc(), "main",
        builder.getFunctionType(llvm::map_to_vector(inputs, [](Value value) { return value.getType(); }),
                                op.getResultTypes()));
    builder.setInsertionPointToStart(function.addEntryBlock());
    IRMapping mapping;
    for (auto [i, input] : llvm::enumerate(inputs)) {
      mapping.map(input, function.getArgument(i));
      setInputName(function, i, "x" + Twine(i));
      if (isLifted(input))
        setPerMember(function, i);
    }
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, builder.clone(*operand.getDefiningOp())->getResult(0));
    func::ReturnOp::create(builder, op.getLoc(), builder.clone(op, mapping)->getResults());
    setOutputName(function, 0, "y");
    return one;
  }

  llvm::Expected<HostTensor> runCompiled(Operation &op, const HostTensor &like) {
    SmallVector<Value> inputs;
    Ensemble one = single(op, inputs);
    SmallString<128> path;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("tutti-verify", "tutti", path))
      return fail(ExitCode::resource, "no temporary file: " + code.message());
    llvm::FileRemover remover(path);
    CompileRequest compileRequest;
    compileRequest.output = path.str().str();
    compileRequest.levels = request.levels;
    compileRequest.cudaTargets = request.architectures;
    compileRequest.precision = request.precision;
    compileRequest.shareByContent = request.shareByContent;
    if (auto result = compile(compileRequest, std::move(one)); !result)
      return result.takeError();

    auto artifact = Artifact::open(path.str().str());
    auto raise = [&](const Error &error) {
      return fail(ExitCode(error.exitCode()), quote(op.getName().getStringRef()) + " by itself: " + error.message());
    };
    if (!artifact)
      return raise(artifact.error());
    auto session = Session::create(*artifact, request.session);
    if (!session)
      return raise(session.error());
    for (const tutti_dimension_t &dimension :
         ArrayRef(artifact->programs()[0].dimensions, artifact->programs()[0].num_dimensions))
      if (auto error = session->setDimension(dimension.name, sizes.lookup(dimension.name)))
        return raise(error);
    std::vector<std::vector<char>> bytes;
    for (const tutti_port_t &port : artifact->inputs()) {
      Value input = inputs[std::atoi(port.name + 1)];
      Tensors tensors = values.find(input)->second;
      HostTensor whole =
          isLifted(input)
              ? stack({llvm::map_range(tensors, given).begin(), llvm::map_range(tensors, given).end()}).exact
              : tensors[0];
      bytes.emplace_back(whole.count() * (tutti_dtype_bits(port.dtype) + 7) / 8);
      whole.toBytes(bytes.back().data());
      tutti_tensor_t tensor = {port.name, port.dtype,          int32_t(whole.dims.size()), whole.dims.data(),
                               nullptr,   bytes.back().data(), TUTTI_MEMORY_HOST};
      if (tutti_status_t status = tutti_session_bind_input(session->get(), &tensor))
        return raise(Error(status, tutti_session_message(session->get())));
    }
    if (auto error = session->run())
      return raise(error);
    auto output = session->output("y");
    if (!output)
      return raise(output.error());
    if (output->size() != size_t(like.count()))
      return fail(ExitCode::internal, quote(op.getName().getStringRef()) + " by itself has another shape");
    return HostTensor::fromBytes(like.element, like.dims, output->tensor.data);
  }

  MLIRContext &context;
  const OpRequest &request;
  Ensemble ensemble;
  func::FuncOp main;
  llvm::StringMap<int64_t> sizes;
  llvm::DenseMap<Value, Tensors> values;
  std::vector<OpRow> rows;
};

} // namespace

llvm::Expected<std::vector<OpRow>> compareOps(MLIRContext &context, const OpRequest &request) {
  auto ensembles = alignBindings(context, request.members, request.import, {request.shareByContent, &request.ports});
  if (!ensembles)
    return ensembles.takeError();
  setSizeRanges(*ensembles->front().module, request.ranges);
  if (llvm::Error error = resolveVmaps(*ensembles->front().module))
    return std::move(error);
  return Comparison(context, request, std::move(ensembles->front())).run();
}

} // namespace tutti
