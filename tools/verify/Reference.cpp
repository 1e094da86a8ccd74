// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's answers: three evaluations of one function.
#include "Reference.h"
#include "Precision.h"
#include "Undecided.h"

#include "compiler/import/WeightSource.h"
#include "compiler/reference/Evaluator.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Heads.h"
#include "dialects/tutti/Module.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace mlir;

namespace tutti {

llvm::Error resolveVmaps(ModuleOp module) {
  MLIRContext &context = *module.getContext();
  DiagnosticCapture diagnostics(&context);
  PassManager passes(&context);
  passes.addPass(createVmapPass());
  Attribute members = module->removeAttr(membersName); // with it the member axis would come, too
  LogicalResult done = passes.run(module);
  if (members)
    module->setAttr(membersName, members);
  return failed(done) ? fail(ExitCode::unsupported, diagnostics.take()) : llvm::Error::success();
}

llvm::Expected<MemberModel> importForReference(MLIRContext &context, const MemberFiles &files,
                                               const ImportOptions &options, const Ports *expected, unsigned index) {
  auto model = importMember(context, files, options, expected, index);
  if (!model)
    return model;
  if (llvm::Error error = resolveVmaps(*model->module))
    return std::move(error);
  return model;
}

Answer given(HostTensor tensor) { return {tensor, tensor, tensor}; }

namespace {

/// Counts, and what has been learnt of a function's choices, while it is evaluated.
class Observer {
public:
  std::optional<HostTensor> sawExact(Operation &op, ArrayRef<HostTensor> operands, const HostTensor &result) {
    work[&op] = workOf(op, operands, result);
    noteRounding(op, double(result.count()));
    if (chooses(op))
      choices[&op] = {SmallVector<HostTensor>(operands), result, {}};
    return std::nullopt;
  }

  std::optional<HostTensor> sawPlain(Operation &op, ArrayRef<HostTensor> operands, const HostTensor &) {
    if (auto choice = choices.find(&op); choice != choices.end()) {
      choice->second.alternatives = undecided(op, choice->second.operands, operands, choice->second.result);
      anyUndecided |= !choice->second.alternatives.empty();
    }
    return std::nullopt;
  }

  std::optional<HostTensor> turn(Operation &op, const HostTensor &result) const {
    auto choice = choices.find(&op);
    if (choice == choices.end() || choice->second.alternatives.empty())
      return std::nullopt;
    HostTensor turned = result;
    for (const Alternative &alternative : choice->second.alternatives)
      if (turned.isFloat())
        turned.floats[alternative.place] = alternative.value;
      else
        turned.ints[alternative.place] = static_cast<int64_t>(alternative.value);
    return turned;
  }

  bool hasUndecided() const { return anyUndecided; }

  /// Whether at least half of the work behind `value` is done by contractions.
  bool contracts(Value value) const {
    double contractions = 0, all = 0;
    DenseSet<Operation *> seen;
    SmallVector<Value> todo{value};
    while (!todo.empty()) {
      Operation *op = todo.pop_back_val().getDefiningOp();
      if (!op || !seen.insert(op).second)
        continue;
      all += work.lookup(op);
      contractions += isa<ContractOp>(op) ? work.lookup(op) : 0;
      llvm::append_range(todo, op->getOperands());
    }
    return contractions > 0 && 2 * contractions >= all;
  }

  /// The narrowest place that all rounding behind a value goes through, in elements; infinite where nothing rounds.
  double independent(Value value) const {
    auto known = narrowest.find(value.getDefiningOp());
    return known == narrowest.end() ? HUGE_VAL : known->second;
  }

private:
  struct Choice {
    SmallVector<HostTensor> operands;
    HostTensor result;
    std::vector<Alternative> alternatives;
  };

  /// Multiply-adds, or elements computed. What only moves elements does not round.
  static double workOf(Operation &op, ArrayRef<HostTensor> operands, const HostTensor &result) {
    if (isa<GetOp, ConstantOp, ConcatOp, GatherOp, WindowsOp, ReplicateOp>(op) || isa<LayoutOpInterface>(op))
      return 0;
    double work = result.count();
    if (auto contract = dyn_cast<ContractOp>(op)) {
      ContractSpec spec = contract.labels();
      for (char label : spec.contracted())
        work *= operands[0].dims[spec.lhs.find(label)];
      return work;
    }
    for (const HostTensor &operand : operands)
      work = std::max<double>(work, operand.count());
    return work;
  }

  /// Ops come behind what they read.
  void noteRounding(Operation &op, double count) {
    double behind = 0; // of several operands, the one that is made of most
    for (Value operand : op.getOperands())
      if (double own = independent(operand); std::isfinite(own))
        behind = std::max(behind, own);
    if (behind > 0 || work.lookup(&op) > 0)
      narrowest[&op] = behind > 0 ? std::min(behind, count) : count;
  }

  llvm::DenseMap<Operation *, double> work, narrowest;
  llvm::DenseMap<Operation *, Choice> choices;
  bool anyUndecided = false;
};

} // namespace

static bool sameValues(const HostTensor &a, const HostTensor &b) {
  auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.ints == b.ints && llvm::equal(a.floats, b.floats, same);
}

llvm::Expected<std::vector<Answer>> answer(func::FuncOp function, ArrayRef<Answer> operands,
                                           const std::function<HostTensor(StringRef)> &param, Precision precision) {
  using Tensors = std::vector<HostTensor>;
  auto evaluateWith = [&](HostTensor Answer::*which, bool plain, const EvaluateHook &hook) -> llvm::Expected<Tensors> {
    EvaluateContext context;
    context.plain = plain;
    context.float64Bits = plainFloat64Bits;
    context.param = param;
    return evaluate(function, llvm::map_to_vector(operands, [&](const Answer &x) { return x.*which; }), context, hook);
  };
  Observer observer;
  auto exact = evaluateWith(&Answer::exact, false, [&](Operation &op, ArrayRef<HostTensor> x, const HostTensor &y) {
    return observer.sawExact(op, x, y);
  });
  if (!exact)
    return exact.takeError();
  EvaluateContext rounded;
  rounded.plain = true;
  rounded.float64Bits = plainFloat64Bits;
  auto plain = evaluateWith(&Answer::plain, true, [&](Operation &op, ArrayRef<HostTensor> x, const HostTensor &y) {
    SmallVector<HostTensor> operands;
    if (precision != Precision::f32 && isa<ContractOp>(op))
      operands.assign(x.begin(), x.end());
    if (roundOperands(op, precision, operands))
      return std::optional(*cast<ContractOp>(op).evaluate(rounded, operands));
    return observer.sawPlain(op, x, y);
  });
  if (!plain)
    return plain.takeError();
  std::optional<Tensors> other;
  if (observer.hasUndecided() ||
      !llvm::all_of(operands, [](const Answer &x) { return sameValues(x.exact, x.other); })) {
    auto turned = evaluateWith(&Answer::other, false, [&](Operation &op, ArrayRef<HostTensor>, const HostTensor &y) {
      return observer.turn(op, y);
    });
    if (!turned)
      return turned.takeError();
    other = std::move(*turned);
  }
  std::vector<Answer> answers;
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < exact->size(); ++i)
    answers.push_back({(*exact)[i], (*plain)[i], other ? (*other)[i] : (*exact)[i],
                       observer.contracts(end->getOperand(i)), unitOf(precision),
                       observer.independent(end->getOperand(i))});
  return answers;
}

llvm::Expected<std::vector<Answer>> answer(const MemberModel &model, ArrayRef<Answer> inputs, Precision precision) {
  return answer(
      mainOf(*model.module), inputs, [&](StringRef symbol) { return toHost(model.weights.find(symbol)->second); },
      precision);
}

Answer stack(std::vector<Answer> members) {
  auto join = [&](HostTensor Answer::*which) {
    HostTensor whole = std::move(members[0].*which);
    whole.dims.insert(whole.dims.begin(), members.size());
    for (Answer &member : llvm::drop_begin(members)) {
      HostTensor part = std::move(member.*which);
      llvm::append_range(whole.floats, part.floats);
      llvm::append_range(whole.ints, part.ints);
    }
    return whole;
  };
  bool contracts = members[0].contracts;
  double unit = members[0].unit, independent = members[0].independent * double(members.size());
  return {join(&Answer::exact), join(&Answer::plain), join(&Answer::other), contracts, unit, independent};
}

HostTensor unstack(const HostTensor &tensor, int64_t position) {
  HostTensor part = HostTensor::zeros(tensor.element, ArrayRef(tensor.dims).drop_front());
  auto take = [&](auto &from, auto &to) {
    std::copy_n(from.begin() + position * part.count(), part.count(), to.begin());
  };
  if (part.isFloat())
    take(tensor.floats, part.floats);
  else
    take(tensor.ints, part.ints);
  return part;
}

llvm::Expected<Answer> underHead(MLIRContext &context, const Answer &members, StringRef head) {
  OpBuilder builder(&context);
  Location location = builder.getUnknownLoc();
  std::optional<HeadText> text = HeadText::parse(head);
  if (!text || !text->kind)
    return fail(ExitCode::unsupported, "the head " + quote(head) + " has no reference");
  FloatAttr q = text->q ? builder.getF64FloatAttr(*text->q) : FloatAttr();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  auto type = RankedTensorType::get(members.exact.dims, members.exact.element);
  auto function = func::FuncOp::create(builder, location, "head", builder.getFunctionType(type, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value result = HeadOp::create(builder, location, *text->kind, function.getArgument(0), q);
  func::ReturnOp::create(builder, location, result);
  function.setFunctionType(builder.getFunctionType(type, result.getType()));
  llvm::Expected<std::vector<Answer>> answers = answer(function, members);
  if (!answers)
    return answers.takeError();
  answers->front().contracts = members.contracts; // a few sums beside the members' work
  answers->front().unit = members.unit;
  answers->front().independent = members.independent / double(members.exact.dims[0]);
  return answers->front();
}

} // namespace tutti
