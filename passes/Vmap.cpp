// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-vmap: resolves the user's tutti.vmap ops, then lifts the model over its members and applies the heads.
#include "dialects/tutti/Heads.h"
#include "dialects/tutti/Model.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Ports.h"
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_VMAPPASS
#include "passes/Passes.h.inc"

namespace {

/// Whether an op reads what differs per member although none of its operands is lifted.
bool readsMembers(Operation &op, LiftContext &context) {
  auto get = dyn_cast<GetOp>(op);
  if (!get || !context.isOverMembers())
    return false;
  auto param = context.symbols.lookupNearestSymbolFrom<ParamOp>(get, get.getParamAttr());
  return param && param.getPerMember();
}

/// Builds the body of `function` at the context's insertion point, over its axis. The arguments have been set; what
/// depends on shared values alone is cloned as it is.
LogicalResult liftBody(func::FuncOp function, LiftContext &context) {
  for (Operation &op : function.getBody().front().without_terminator()) {
    bool lifted = llvm::any_of(op.getOperands(), [&](Value operand) { return context.isLifted(operand); });
    if (!lifted && !readsMembers(op, context)) {
      context.cloneShared(&op);
      continue;
    }
    auto liftable = dyn_cast<LiftOpInterface>(op);
    if (!liftable)
      return op.emitOpError("cannot be mapped over an axis: it has no vmap rule");
    if (failed(liftable.lift(context)))
      return failure();
    // A model's own sizes can be counted; what several axes make of them may not be.
    for (Value result : op.getResults())
      if (auto type = typeOf(context.get(result)); !product(getSizes(type)))
        return op.emitOpError("mapped over all axes has more than 2^63 elements: ") << type;
  }
  return success();
}

ValueRange resultsOf(func::FuncOp function) { return function.getBody().front().getTerminator()->getOperands(); }

/// `value` with axis `from` put where `to` is; the other axes keep their order.
Value moveAxis(OpBuilder &builder, Location loc, Value value, int64_t from, int64_t to) {
  if (from == to)
    return value;
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + to, from);
  return TransposeOp::create(builder, loc, value, axes);
}

struct VmapPass : impl::VmapPassBase<VmapPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkModel(module)))
      return signalPassFailure();
    states.clear(); // a pass may run on another module, whose functions may lie where gone ones lay
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (failed(resolve(function)))
        return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.isPrivate() && function.symbolKnownUseEmpty(module))
        function.erase();
    if (getMembers(module) && failed(liftModel(module)))
      signalPassFailure();
  }

private:
  enum class State { open, done };
  llvm::DenseMap<Operation *, State> states;

  /// Replaces the vmaps of a function by their callees' ops, callees first.
  LogicalResult resolve(func::FuncOp function) {
    auto [state, isNew] = states.try_emplace(function, State::open);
    if (!isNew)
      return state->second == State::done
                 ? success()
                 : function.emitError("function @" + function.getName() + " calls itself, which has no vmap rule");
    for (VmapOp vmap : llvm::make_early_inc_range(function.getBody().front().getOps<VmapOp>())) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(vmap, vmap.getCalleeAttr());
      if (failed(resolve(callee)) || failed(inlineVmap(vmap, callee)))
        return failure();
    }
    states[function] = State::done;
    return success();
  }

  LogicalResult inlineVmap(VmapOp op, func::FuncOp callee) {
    OpBuilder builder(op);
    LiftContext context(builder, Size(op.getSize()));
    for (auto [argument, input, dim] : llvm::zip_equal(callee.getArguments(), op.getInputs(), op.getInDims())) {
      if (dim == -1)
        context.setShared(argument, input);
      else
        context.setLifted(argument, moveAxis(builder, op.getLoc(), input, dim, 0));
    }
    if (failed(liftBody(callee, context)))
      return failure();
    for (auto [result, inner, dim] : llvm::zip_equal(op.getResults(), resultsOf(callee), op.getOutDims()))
      result.replaceAllUsesWith(moveAxis(builder, op.getLoc(), context.getLifted(inner), 0, dim));
    op.erase();
    return success();
  }

  /// Gives @main the member axis, in place: new ops behind the old ones, which go. With several groups, each one's
  /// function is lifted over its own part of the active members.
  LogicalResult liftModel(ModuleOp module) {
    FailureOr<SmallVector<func::FuncOp>> functions = groupFunctions(module);
    if (failed(functions))
      return failure();
    ArrayRef<func::FuncOp> groups = *functions;
    func::FuncOp function = groups.front();
    Block &old = function.getBody().front();
    Block *now = new Block;
    function.getBody().push_back(now);
    OpBuilder builder = OpBuilder::atBlockEnd(now);
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      auto type = typeOf(argument);
      now->addArgument(isPerMember(function, i) ? addMemberAxis(type, activeSize()) : type, argument.getLoc());
    }
    SmallVector<SmallVector<Value>> results; // by result, of each group
    auto undo = [&] {                        // the model stays as it was
      while (!now->empty())
        now->back().erase();
      now->erase();
      return failure();
    };
    for (auto [group, own] : llvm::enumerate(groups))
      if (failed(liftGroup(own, group, groups.size(), *now, builder, results)))
        return undo();

    SmallVector<Value> values;
    SmallVector<DictionaryAttr> attributes;
    Location loc = old.getTerminator()->getLoc();
    for (auto [i, parts] : llvm::enumerate(results)) {
      Value members = parts.front();
      if (groups.size() > 1)
        members = JoinOp::create(builder, loc, addMemberAxis(dropMemberAxis(typeOf(members)), activeSize()), parts);
      if (failed(applyHeads(function, i, members, builder, values, attributes)))
        return undo();
    }
    func::ReturnOp::create(builder, loc, values);
    for (func::FuncOp own : llvm::drop_begin(groups))
      own.erase();

    // Users first, so that no op goes while its results are read.
    while (!old.empty())
      old.back().erase();
    old.erase();
    function.setType(builder.getFunctionType(now->getArgumentTypes(), ValueRange(values).getTypes()));
    function.setAllResultAttrs(attributes);
    return success();
  }

  /// The ops of a group's function over its members; its results are appended to `results`.
  LogicalResult liftGroup(func::FuncOp own, unsigned group, unsigned groups, Block &now, OpBuilder &builder,
                          SmallVectorImpl<SmallVector<Value>> &results) {
    LiftContext context(builder, groups > 1 ? activeSize(group) : activeSize());
    bool isLone = getMembers(own->getParentOfType<ModuleOp>()) == 1;
    for (auto [argument, given] : llvm::zip_equal(own.getArguments(), now.getArguments())) {
      // One member shares with nobody: what reads the input alone may then be of one kernel with what reads weights.
      if (given.getType() == argument.getType() && isLone) {
        context.setLifted(argument, repeat(builder, own.getLoc(), given, context.members));
        continue;
      }
      if (given.getType() == argument.getType()) {
        context.setShared(argument, given);
        continue;
      }
      Value part = given;
      if (groups > 1)
        part = PartOp::create(builder, own.getLoc(), addMemberAxis(typeOf(argument), context.members), given);
      context.setLifted(argument, part);
    }
    if (failed(liftBody(own, context)))
      return failure();
    results.resize(own.getNumResults());
    for (auto [i, result] : llvm::enumerate(resultsOf(own)))
      results[i].push_back(context.getLifted(result));
    return success();
  }

  /// Appends the heads that result `index` asks for, and their attributes.
  LogicalResult applyHeads(func::FuncOp function, unsigned index, Value members, OpBuilder &builder,
                           SmallVectorImpl<Value> &values, SmallVectorImpl<DictionaryAttr> &attributes) {
    for (StringRef head : headsAsked(function, index)) {
      Value value = members;
      HeadText asked = *HeadText::parse(head);
      if (asked.kind) {
        HeadOp::Properties properties;
        properties.kind = HeadKindAttr::get(&getContext(), *asked.kind);
        if (asked.q)
          properties.q = builder.getF64FloatAttr(*asked.q);
        // Asked first: to build an op whose types do not fit would end the process.
        SmallVector<Type> type;
        if (failed(HeadOp::inferReturnTypes(&getContext(), members.getLoc(), members, {}, &properties, {}, type)))
          return failure();
        value = HeadOp::create(builder, members.getLoc(), type[0], properties.kind, members, properties.q);
      }
      values.push_back(value);
      attributes.push_back(withHead(function, index, head));
    }
    return success();
  }
};

} // namespace
} // namespace tutti
