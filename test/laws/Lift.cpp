// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Law lift: lift(f)(stack x_i) == stack f(x_i), for every op, every mix of lifted and shared operands, bit for bit.
#include "Instances.h"

#include "compiler/reference/Evaluator.h"
#include "passes/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;

namespace tutti::laws {

/// Ops that are no function of tensors and so have no vmap rule.
static const std::set<std::string> withoutLift = {"tutti.param", "tutti.vmap", "tutti.map", "tutti.yield"};

TEST(Laws, EveryOp) {
  std::set<std::string> known;
  for (const Instance &instance : instances())
    known.insert(instance.op);
  for (RegisteredOperationName name : context().getRegisteredOperationsByDialect("tutti")) {
    std::string op = name.getStringRef().str();
    EXPECT_EQ(name.hasInterface<LiftOpInterface>(), !withoutLift.count(op)) << op;
    EXPECT_EQ(known.count(op) + withoutLift.count(op), 1u) << op << " needs an instance in test/laws/Instances.cpp";
  }
}

namespace {
/// A function that is the lift of a subject's op.
struct Lifted {
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
};

/// Lifts the subject over `members` with those operands lifted whose bit is set.
Lifted lift(Subject &subject, Size members, unsigned mix) {
  Lifted lifted{ModuleOp::create(UnknownLoc::get(&context())), {}};
  OpBuilder builder(lifted.module->getBodyRegion());
  for (auto param : subject.module->getOps<ParamOp>())
    builder.clone(*param.getOperation());
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(subject.main.getArgumentTypes()))
    types.push_back(mix >> i & 1 ? addMemberAxis(cast<RankedTensorType>(type), members) : cast<RankedTensorType>(type));
  lifted.main = func::FuncOp::create(builder, builder.getUnknownLoc(), "main", builder.getFunctionType(types, {}));
  Block *block = lifted.main.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  LiftContext context(builder, members);
  for (auto [i, old, now] : llvm::enumerate(subject.main.getArguments(), block->getArguments()))
    mix >> i & 1 ? context.setLifted(old, now) : context.setShared(old, now);
  if (failed(cast<LiftOpInterface>(subject.op).lift(context))) {
    lifted.main = nullptr;
    return lifted;
  }
  EXPECT_TRUE(context.isLifted(subject.op->getResult(0)));
  Value result = context.get(subject.op->getResult(0));
  EXPECT_EQ(result.getType(), addMemberAxis(cast<RankedTensorType>(subject.op->getResult(0).getType()), members));
  func::ReturnOp::create(builder, builder.getUnknownLoc(), result);
  lifted.main.setType(builder.getFunctionType(types, result.getType()));
  EXPECT_TRUE(succeeded(verify(*lifted.module)));
  return lifted;
}

EvaluateContext contextWith(int64_t active, const HostTensor *param) {
  EvaluateContext context;
  context.sizes = sizes();
  context.sizes["active"] = active;
  if (param)
    context.param = [=](StringRef) { return *param; };
  return context;
}

HostTensor evaluated(func::FuncOp function, ArrayRef<HostTensor> inputs, EvaluateContext context) {
  llvm::Expected<std::vector<HostTensor>> results = evaluate(function, inputs, context);
  if (!results) {
    ADD_FAILURE() << llvm::toString(results.takeError());
    return {};
  }
  return (*results)[0];
}
} // namespace

struct LiftLaw : testing::TestWithParam<Instance> {};

TEST_P(LiftLaw, Holds) {
  Subject subject = parse(GetParam());
  ASSERT_TRUE(subject.op);
  bool isGet = isa<GetOp>(subject.op);
  unsigned arguments = subject.main.getNumArguments();
  // Without operands there is nothing to lift, but for the parameters, which the model's members lift.
  unsigned first = isGet ? 0 : 1, last = 1u << arguments;
  for (unsigned mix = first; mix < last; ++mix)
    for (int64_t members : {1, 2, 7})
      for (bool overMembers : {true, false}) {
        if (isGet && !overMembers)
          continue;
        SCOPED_TRACE("mix " + std::to_string(mix) + ", E = " + std::to_string(members) +
                     (overMembers ? ", over the members" : ", over a user's axis"));
        std::mt19937 generator(members);
        Lifted lifted = lift(subject, overMembers ? activeSize() : Size(members), mix);
        ASSERT_TRUE(lifted.main) << "no vmap rule";
        std::vector<HostTensor> inputs, params;
        for (auto [i, type] : llvm::enumerate(subject.main.getArgumentTypes())) {
          std::vector<HostTensor> each;
          for (int64_t m = 0; m < members; ++m)
            each.push_back(random(generator, cast<RankedTensorType>(type)));
          inputs.push_back(mix >> i & 1 ? stack(each) : each[0]);
        }
        for (int64_t m = 0; m < members; ++m)
          params.push_back(random(generator, Float32Type::get(&context()), {2, 3}));
        std::vector<HostTensor> results;
        for (int64_t m = 0; m < members; ++m) {
          std::vector<HostTensor> own;
          for (auto [i, input] : llvm::enumerate(inputs))
            own.push_back(mix >> i & 1 ? unstack(input, m) : input);
          results.push_back(evaluated(subject.main, own, contextWith(1, &params[m])));
        }
        HostTensor all = stack(params);
        HostTensor together = evaluated(lifted.main, inputs, contextWith(members, &all));
        EXPECT_EQ(difference(together, stack(results)), "");
      }
}

static std::string nameOf(const testing::TestParamInfo<Instance> &info) {
  return info.param.op.substr(6) + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Ops, LiftLaw, testing::ValuesIn(instances()), nameOf);

//===------------------------------------------------------------------------------------------------------------===//
// The user's vmap, resolved by the pass
//===------------------------------------------------------------------------------------------------------------===//

/// `tensor` with its axis `from` moved to `to`.
static HostTensor moved(const HostTensor &tensor, int64_t from, int64_t to) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, tensor.dims.size()));
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + to, from);
  HostTensor result = tensor;
  SmallVector<int64_t> strides = tensor.strides();
  for (auto [i, axis] : llvm::enumerate(axes))
    result.dims[i] = tensor.dims[axis];
  SmallVector<int64_t> outer = result.strides();
  for (int64_t place = 0, count = tensor.count(); place < count; ++place) {
    int64_t source = 0;
    for (auto [i, axis] : llvm::enumerate(axes))
      source += place / outer[i] % result.dims[i] * strides[axis];
    result.floats[place] = tensor.floats[source];
  }
  return result;
}

TEST(Vmap, EveryAxis) {
  const char *callee = "func.func private @f(%x: tensor<2x3xf32>, %w: tensor<3xf32>) -> tensor<2x3xf32> {"
                       "  %0 = tutti.sub %x, %w : tensor<2x3xf32>, tensor<3xf32>"
                       "  return %0 : tensor<2x3xf32> }";
  auto withAxis = [](std::vector<int64_t> dims, int64_t axis) {
    if (axis >= 0)
      dims.insert(dims.begin() + axis, 4);
    std::string text = "tensor<";
    for (int64_t length : dims)
      text += std::to_string(length) + "x";
    return text + "f32>";
  };
  for (int64_t inX : {-1, 0, 1, 2})
    for (int64_t inW : {-1, 0, 1})
      for (int64_t out : {0, 1, 2}) {
        SCOPED_TRACE(std::to_string(inX) + " " + std::to_string(inW) + " -> " + std::to_string(out));
        std::string x = withAxis({2, 3}, inX), w = withAxis({3}, inW), y = withAxis({2, 3}, out);
        std::string text = std::string(callee) + "func.func @main(%x: " + x + ", %w: " + w + ") -> " + y +
                           " { %0 = tutti.vmap @f(%x, %w) in [" + std::to_string(inX) + ", " + std::to_string(inW) +
                           "] out [" + std::to_string(out) + "] size 4 : (" + x + ", " + w + ") -> " + y +
                           " return %0 : " + y + " }";
        OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
        ASSERT_TRUE(module);
        OwningOpRef<ModuleOp> unmapped = parseSourceString<ModuleOp>(callee, &context());
        PassManager passes(&context());
        passes.addPass(createVmapPass());
        ASSERT_TRUE(succeeded(passes.run(*module)));
        auto main = module->lookupSymbol<func::FuncOp>("main"), f = unmapped->lookupSymbol<func::FuncOp>("f");
        std::mt19937 generator(1);
        std::vector<HostTensor> inputs;
        for (Type type : main.getArgumentTypes())
          inputs.push_back(random(generator, cast<RankedTensorType>(type)));
        std::vector<HostTensor> results;
        for (int64_t m = 0; m < 4; ++m)
          results.push_back(evaluated(f,
                                      {inX < 0 ? inputs[0] : unstack(moved(inputs[0], inX, 0), m),
                                       inW < 0 ? inputs[1] : unstack(moved(inputs[1], inW, 0), m)},
                                      contextWith(1, nullptr)));
        EXPECT_EQ(difference(evaluated(main, inputs, contextWith(1, nullptr)), moved(stack(results), 0, out)), "");
      }
}

} // namespace tutti::laws
