// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares members in lockstep.
#include "compiler/import/align/Compare.h"
#include "compiler/import/Ports.h"
#include "compiler/import/emit/Operand.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Ports.h"
#include "dialects/tutti/Tutti.h"

using namespace mlir;

namespace tutti {

static std::string describe(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return elementName(tensor.getElementType()) + " " + str(getSizes(tensor));
}

/// "contract of float32 (batch, 12) and float32 (12, 32) {spec = ...}"; for a weight its name and shape.
static std::string describe(Operation *op, const MemberModel &member) {
  if (!op || isa<func::ReturnOp>(op))
    return "the end of the graph";
  if (auto get = dyn_cast<GetOp>(op)) {
    const WeightSource &source = member.weights.lookup(get.getParam());
    return (source.name.empty() ? "a constant" : "weight " + quote(source.name)) + " of " + describe(get.getType());
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName().stripDialect();
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    os << (i ? " and " : " of ") << describe(operand.getType());
  if (auto elements = op->getAttrOfType<DenseElementsAttr>("value")) {
    os << " " << describe(op->getResult(0).getType());
    if (elements.getNumElements() <= 8)
      os << " " << Attribute(elements);
    return text;
  }
  for (NamedAttribute attribute : op->getAttrs())
    os << ", " << attribute.getName().getValue() << " " << attribute.getValue();
  if (isa<ReshapeOp, BroadcastOp, CastOp>(op))
    os << " to " << describe(op->getResult(0).getType());
  return text;
}

static llvm::Error differs(const MemberModel &first, const MemberModel &other, size_t index, const Twine &where,
                           const Twine &there, const Twine &here) {
  return fail(ExitCode::unsupported, "member " + Twine(index) + " (" + quote(other.file) + ") differs from member 0 (" +
                                         quote(first.file) + ") at " + where + ": " + there + ", in member 0 " + here);
}

/// Whether a constant is a list. A single number is part of the structure: an offset, a step, a bound.
static bool isList(ConstantOp constant) { return constant.getValue().getNumElements() > 1; }

llvm::Error compareOutputs(const MemberModel &first, const MemberModel &other, size_t index) {
  func::FuncOp mine = mainOf(*first.module), theirs = mainOf(*other.module);
  for (unsigned i = 0; i < mine.getNumResults(); ++i)
    if (mine.getResultTypes()[i] != theirs.getResultTypes()[i])
      return differs(first, other, index, "output " + quote(outputName(mine, i).getValue()),
                     describe(theirs.getResultTypes()[i]), describe(mine.getResultTypes()[i]));
  return llvm::Error::success();
}

/// Whether a weight is only ever added to something.
static bool isBias(Operation &op) { return isa<GetOp>(op) && llvm::all_of(op.getUsers(), llvm::IsaPred<AddOp>); }
/// A factor of `Gemm`, say, which no file has as an initializer.
static bool isSpelledOut(Operation &op, const MemberModel &model) {
  auto get = dyn_cast<GetOp>(op);
  return get && model.weights.find(get.getParam())->second.name.empty();
}

static llvm::Error compareOps(const MemberModel &first, const MemberModel &other, size_t index,
                              SmallVectorImpl<unsigned> &constants) {
  if (llvm::Error error = compareOutputs(first, other, index))
    return error;
  func::FuncOp mine = mainOf(*first.module), theirs = mainOf(*other.module);
  DenseMap<Value, Value> counterpart;
  for (auto [a, b] : llvm::zip_equal(mine.getArguments(), theirs.getArguments()))
    counterpart[a] = b;
  auto at = [](Operation *op) { return isa<func::ReturnOp>(op) ? std::string("the outputs") : describe(op->getLoc()); };
  for (auto [number, pair] : llvm::enumerate(llvm::zip(mine.getBody().front(), theirs.getBody().front()))) {
    auto &[a, b] = pair;
    if (auto constant = dyn_cast<ConstantOp>(a);
        constant && isa<ConstantOp>(b) && isList(constant) && constant.getType() == b.getResult(0).getType()) {
      if (constant.getValue() != cast<ConstantOp>(b).getValue())
        constants.push_back(number);
      counterpart[a.getResult(0)] = b.getResult(0);
      continue;
    }
    bool equal = a.getName() == b.getName() && a.getNumOperands() == b.getNumOperands() &&
                 a.getResultTypes() == b.getResultTypes() && a.getAttrDictionary() == b.getAttrDictionary();
    bool lacksBias = isBias(a) != isBias(b) && !isSpelledOut(a, first) && !isSpelledOut(b, other);
    if (!equal)
      return differs(first, other, index, at(&b), describe(&b, other),
                     describe(&a, first) + " at " + at(&a) +
                         (lacksBias ? "; exporters leave out a bias that is all zeros" : "") +
                         "; members of unequal structure take --unequal");
    for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(a.getOperands(), b.getOperands()))) {
      auto [x, y] = pair;
      if (counterpart.lookup(x) == y)
        continue;
      auto from = [](Value value) {
        if (Operation *op = value.getDefiningOp())
          return "the result of " + describe(op->getLoc());
        auto argument = cast<BlockArgument>(value);
        auto model = cast<func::FuncOp>(argument.getOwner()->getParentOp());
        StringAttr name = inputName(model, argument.getArgNumber());
        return "input " + (name ? quote(name.getValue()) : std::to_string(argument.getArgNumber()));
      };
      return differs(first, other, index, at(&b), "operand " + Twine(i) + " is " + from(y),
                     "it is " + from(x) + "; members of unequal structure take --unequal");
    }
    for (auto [x, y] : llvm::zip_equal(a.getResults(), b.getResults()))
      counterpart[x] = y;
  }
  return llvm::Error::success();
}

static llvm::Error compareText(const MemberModel &first, const MemberModel &other, size_t index) {
  auto text = [](const MemberModel &model) {
    std::string text;
    llvm::raw_string_ostream(text) << *model.module;
    return text;
  };
  std::string mine = text(first), theirs = text(other);
  if (mine == theirs)
    return llvm::Error::success();
  func::FuncOp a = mainOf(*first.module), b = mainOf(*other.module);
  SmallVector<unsigned> constants; // with MLIR text they are not the members' own
  if (a.getFunctionType() == b.getFunctionType())
    if (llvm::Error error = compareOps(first, other, index, constants))
      return error;
  SmallVector<StringRef> here, there;
  StringRef(mine).split(here, '\n');
  StringRef(theirs).split(there, '\n');
  size_t line = 0;
  while (line < here.size() && line < there.size() && here[line] == there[line])
    ++line;
  auto at = [&](ArrayRef<StringRef> lines) { return line < lines.size() ? shown(lines[line].trim()) : "the end"; };
  return fail(ExitCode::unsupported, "member " + Twine(index) + " (" + quote(other.file) + ") differs from member 0 (" +
                                         quote(first.file) + "): " + at(there) + ", in member 0 " + at(here));
}

llvm::Error compare(const MemberModel &first, const MemberModel &other, size_t index, bool areText,
                    SmallVectorImpl<unsigned> &constants) {
  return areText ? compareText(first, other, index) : compareOps(first, other, index, constants);
}

} // namespace tutti
