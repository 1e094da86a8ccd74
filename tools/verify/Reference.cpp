// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's answers: several evaluations of one function.
#include "Reference.h"
#include "Perturbed.h"
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

bool computes(Operation &op) {
  return !isa<GetOp, ConstantOp, ConcatOp, GatherOp, WindowsOp, ReplicateOp>(op) && !isa<LayoutOpInterface>(op);
}

Answer given(HostTensor tensor) { return {tensor, tensor, tensor, tensor}; }

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

  /// What float64 chose.
  std::optional<HostTensor> chosen(Operation &op) const {
    auto choice = choices.find(&op);
    return choice == choices.end() ? std::nullopt : std::optional(choice->second.result);
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

  /// Whether rounding makes so few errors in a result that all may be small by chance.
  bool hasFewErrors(Value result, const HostTensor &tensor) const {
    double errors = std::min<double>(independent(result), tensor.count());
    return tensor.isFloat() && errors < fewErrors;
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

  /// Multiply-adds, or elements computed.
  static double workOf(Operation &op, ArrayRef<HostTensor> operands, const HostTensor &result) {
    if (!computes(op))
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

namespace {

using Tensors = std::vector<HostTensor>;

/// The evaluations of one function. `exact` comes first and `plain` second: what the others do hangs on these.
class Evaluations {
public:
  Evaluations(func::FuncOp function, ArrayRef<Answer> operands, const std::function<HostTensor(StringRef)> &param,
              Precision precision)
      : function(function), operands(operands), param(param), precision(precision) {}

  llvm::Expected<Tensors> exact() {
    return evaluateWith(
        operandsOf(&Answer::exact), contextOf(false),
        [&](Operation &op, ArrayRef<HostTensor> x, const HostTensor &y) { return observer.sawExact(op, x, y); });
  }

  llvm::Expected<Tensors> plain() {
    return evaluateWith(operandsOf(&Answer::plain), contextOf(true),
                        [&](Operation &op, ArrayRef<HostTensor> x, const HostTensor &y) {
                          auto product = ofRoundedOperands(op, x);
                          return product ? product : observer.sawPlain(op, x, y);
                        });
  }

  /// `plain` without the contractions' own errors.
  llvm::Expected<Tensors> withExactContractions() {
    return evaluateWith(operandsOf(&Answer::plain), contextOf(true),
                        [&](Operation &op, ArrayRef<HostTensor> x, const HostTensor &) -> std::optional<HostTensor> {
                          auto contract = dyn_cast<ContractOp>(op);
                          EvaluateContext context = contextOf(false);
                          return contract ? std::optional(*contract.evaluate(context, x)) : std::nullopt;
                        });
  }

  llvm::Expected<Tensors> perturbed() {
    std::minstd_rand random;
    SmallVector<HostTensor> inputs = operandsOf(&Answer::perturbed);
    for (HostTensor &input : inputs)
      perturb(input, random);
    return evaluateWith(inputs, contextOf(true), [&](Operation &op, ArrayRef<HostTensor> x, const HostTensor &y) {
      if (std::optional<HostTensor> chosen = observer.chosen(op))
        return chosen;
      std::optional<HostTensor> result = ofRoundedOperands(op, x);
      if (isa<GetOp>(op) || computes(op))
        perturb(result ? *result : result.emplace(y), random);
      return result;
    });
  }

  llvm::Expected<Tensors> other() {
    return evaluateWith(operandsOf(&Answer::other), contextOf(false),
                        [&](Operation &op, ArrayRef<HostTensor>, const HostTensor &y) { return observer.turn(op, y); });
  }

  bool hasOther() const {
    return observer.hasUndecided() ||
           !llvm::all_of(operands, [](const Answer &x) { return sameValues(x.exact, x.other); });
  }

  const Observer &observed() const { return observer; }

private:
  EvaluateContext contextOf(bool plain) const {
    EvaluateContext context;
    context.plain = plain;
    context.float64Bits = plainFloat64Bits;
    context.param = param;
    return context;
  }

  SmallVector<HostTensor> operandsOf(HostTensor Answer::*which) const {
    return llvm::map_to_vector(operands, [&](const Answer &x) { return x.*which; });
  }

  /// A contraction's plain result where the precision has its operands rounded.
  std::optional<HostTensor> ofRoundedOperands(Operation &op, ArrayRef<HostTensor> x) const {
    SmallVector<HostTensor> operands;
    if (precision != Precision::f32 && isa<ContractOp>(op))
      operands.assign(x.begin(), x.end());
    if (!roundOperands(op, precision, operands))
      return std::nullopt;
    EvaluateContext context = contextOf(true);
    return *cast<ContractOp>(op).evaluate(context, operands);
  }

  llvm::Expected<Tensors> evaluateWith(ArrayRef<HostTensor> inputs, EvaluateContext context, const EvaluateHook &hook) {
    return evaluate(function, inputs, context, hook);
  }

  func::FuncOp function;
  ArrayRef<Answer> operands;
  const std::function<HostTensor(StringRef)> &param;
  Precision precision;
  Observer observer;
};

} // namespace

/// The sum of squared differences between finite numbers.
static double squaredError(const HostTensor &tensor, const HostTensor &exact) {
  double sum = 0;
  for (auto [x, y] : llvm::zip_equal(tensor.floats, exact.floats))
    if (std::isfinite(x) && std::isfinite(y))
      sum += (x - y) * (x - y);
  return sum;
}

llvm::Expected<std::vector<Answer>> answer(func::FuncOp function, ArrayRef<Answer> operands,
                                           const std::function<HostTensor(StringRef)> &param, Precision precision,
                                           Dominance dominance) {
  Evaluations evaluations(function, operands, param, precision);
  auto exact = evaluations.exact();
  if (!exact)
    return exact.takeError();
  auto plain = evaluations.plain();
  if (!plain)
    return plain.takeError();
  const Observer &observer = evaluations.observed();
  OperandRange results = function.getBody().front().getTerminator()->getOperands();

  Tensors perturbed = *plain, other = *exact;
  if (llvm::any_of(llvm::zip_equal(results, *exact),
                   [&](auto result) { return observer.hasFewErrors(std::get<0>(result), std::get<1>(result)); })) {
    auto evaluated = evaluations.perturbed();
    if (!evaluated)
      return evaluated.takeError();
    perturbed = std::move(*evaluated);
  }
  if (evaluations.hasOther()) {
    auto evaluated = evaluations.other();
    if (!evaluated)
      return evaluated.takeError();
    other = std::move(*evaluated);
  }
  SmallVector<bool> contracts;
  for (Value result : results)
    contracts.push_back(observer.contracts(result));
  if (dominance == Dominance::byErrors && llvm::is_contained(contracts, true)) {
    auto evaluated = evaluations.withExactContractions();
    if (!evaluated)
      return evaluated.takeError();
    for (auto [dominate, rest, whole, x] : llvm::zip_equal(contracts, *evaluated, *plain, *exact))
      dominate &= 2 * squaredError(rest, x) <= squaredError(whole, x);
  }
  std::vector<Answer> answers;
  for (auto [i, result] : llvm::enumerate(results))
    answers.push_back({std::move((*exact)[i]), std::move((*plain)[i]), std::move(other[i]), std::move(perturbed[i]),
                       contracts[i], unitOf(precision), observer.independent(result)});
  return answers;
}

llvm::Expected<std::vector<Answer>> answer(const MemberModel &model, ArrayRef<Answer> inputs, Precision precision,
                                           Dominance dominance) {
  return answer(
      mainOf(*model.module), inputs, [&](StringRef symbol) { return toHost(model.weights.find(symbol)->second); },
      precision, dominance);
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
  bool contracts = llvm::all_of(members, [](const Answer &member) { return member.contracts; });
  double unit = members[0].unit, independent = members[0].independent * double(members.size());
  return {join(&Answer::exact), join(&Answer::plain), join(&Answer::other), join(&Answer::perturbed), contracts, unit,
          independent};
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
