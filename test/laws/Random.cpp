// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Law random: in a graph of many ops, each op's compiled result is its reference on the compiled results before it,
// within the op's own bound; and members are independent to the last bit. Nearly every value is a result, which is what
// graphs of files are not: kernels then write what they would otherwise keep, and ops have several readers at several
// places.
#include "RandomGraphs.h"
#include "Within.h"

#include "compiler/reference/Evaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;

namespace tutti::laws {

struct RandomLaw : testing::TestWithParam<unsigned> {
  RandomGraph graph = randomGraph(GetParam());

  /// The ensemble of these members.
  std::unique_ptr<Artifact> compiled(ArrayRef<uint32_t> members, std::vector<std::string> levels = levelsBeside());
  std::vector<HostTensor> run(const Artifact &artifact, ArrayRef<HostTensor> inputs, const Call &call = {});
  /// These members' inputs, and rows of them.
  std::vector<HostTensor> inputsOf(ArrayRef<uint32_t> members, std::optional<std::pair<int64_t, int64_t>> rows = {});
  void expectReference(func::FuncOp main, ArrayRef<HostTensor> results, uint32_t member);
  void check();
};

std::unique_ptr<Artifact> RandomLaw::compiled(ArrayRef<uint32_t> members, std::vector<std::string> levels) {
  Model model = graph.model;
  model.members = members.size();
  model.levels = std::move(levels);
  for (auto &[name, values] : model.params)
    if (values.size() > 1)
      for (std::vector<HostTensor> each = std::exchange(values, {}); uint32_t member : members)
        values.push_back(each[member]);
  llvm::Expected<std::unique_ptr<Artifact>> artifact = Artifact::compile(model);
  if (artifact)
    return std::move(*artifact);
  ADD_FAILURE() << llvm::toString(artifact.takeError());
  return nullptr;
}

std::vector<HostTensor> RandomLaw::run(const Artifact &artifact, ArrayRef<HostTensor> inputs, const Call &call) {
  llvm::Expected<std::vector<HostTensor>> results = artifact.run(inputs, call);
  if (results)
    return std::move(*results);
  ADD_FAILURE() << llvm::toString(results.takeError());
  return {};
}

std::vector<HostTensor> RandomLaw::inputsOf(ArrayRef<uint32_t> members,
                                            std::optional<std::pair<int64_t, int64_t>> rows) {
  std::vector<HostTensor> inputs = graph.inputs;
  for (HostTensor &input : inputs) {
    if (graph.model.ownInputs)
      input = choose(input, members);
    if (rows)
      input = take(input, graph.model.ownInputs, llvm::to_vector(llvm::seq(rows->first, rows->second)));
  }
  return inputs;
}

/// Op by op, each from the compiled values of its operands. Where an op behind it has none (a part of a softmax, say),
/// the errors of what is not seen come together.
void RandomLaw::expectReference(func::FuncOp main, ArrayRef<HostTensor> results, uint32_t member) {
  DenseMap<Value, unsigned> places;
  for (auto [i, value] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands()))
    places[value] = i;
  DenseSet<Operation *> unseen;
  EvaluateContext reference;
  reference.sizes = sizes();
  reference.param = [&](StringRef name) {
    const std::vector<HostTensor> &values = graph.model.params[name.str()];
    return values[values.size() > 1 ? member : 0];
  };
  auto hook = [&](Operation &op, ArrayRef<HostTensor> operands, const HostTensor &want) -> std::optional<HostTensor> {
    auto place = places.find(op.getResult(0));
    bool isOfUnseen =
        llvm::any_of(op.getOperands(), [&](Value value) { return unseen.contains(value.getDefiningOp()); });
    if (place == places.end()) {
      if (isOfUnseen || !isa<GetOp, ConstantOp, LayoutOpInterface, ConcatOp, GatherOp>(op))
        unseen.insert(&op);
      return std::nullopt;
    }
    std::string text;
    llvm::raw_string_ostream(text) << op;
    SCOPED_TRACE("y" + std::to_string(place->second) + " of member " + std::to_string(member) + ": " + text);
    HostTensor got = unstack(results[place->second], member);
    if (!isOfUnseen || !want.isFloat()) {
      expectWithin(&op, got, want, operands);
      return got;
    }
    EXPECT_EQ(got.dims, want.dims);
    double largest = 1, error = 0;
    for (const HostTensor &operand : operands)
      for (double value : operand.floats)
        largest = std::isfinite(value) ? std::fmax(largest, std::fabs(value)) : largest;
    for (auto [a, b] : llvm::zip_equal(got.floats, want.floats)) {
      if (std::isfinite(a) && std::isfinite(b)) {
        largest = std::fmax(largest, std::fabs(b));
        error = std::fmax(error, std::fabs(a - b));
      } else if (a != b && !(std::isnan(a) && std::isnan(b))) {
        ADD_FAILURE() << a << ", expected " << b;
      }
    }
    EXPECT_LE(error, largest * 0x1p-12);
    return got;
  };
  std::vector<HostTensor> inputs = inputsOf(member);
  if (graph.model.ownInputs)
    for (HostTensor &input : inputs)
      input = unstack(input, 0);
  llvm::Expected<std::vector<HostTensor>> want = evaluate(main, inputs, reference, hook);
  EXPECT_TRUE(bool(want)) << llvm::toString(want.takeError());
}

/// The part of a result that a call with these rows has. Where values were broadcast, each of two axes may be of rows.
static HostTensor rowsOf(HostTensor result, Type type, std::pair<int64_t, int64_t> rows) {
  for (auto [axis, size] : llvm::enumerate(getSizes(cast<RankedTensorType>(type))))
    if (!size.isFixed())
      result = take(result, axis + 1,
                    llvm::to_vector(llvm::seq(rows.first * size.getFactor(), rows.second * size.getFactor())));
  return result;
}

void RandomLaw::check() {
  OwningOpRef<ModuleOp> module = parseModule(graph.model.text);
  ASSERT_TRUE(module);
  auto main = module->lookupSymbol<func::FuncOp>("main");
  SmallVector<uint32_t> all = llvm::to_vector(llvm::seq<uint32_t>(graph.model.members));
  auto levels = std::vector<std::string>{"x86-64-v3"};
  if (!cudaTarget() && hasWide() && GetParam() % 2)
    levels.push_back("x86-64-v4");
  std::unique_ptr<Artifact> artifact = compiled(all, levels);
  if (!artifact || !artifact->runs())
    return;
  const std::vector<HostTensor> y = run(*artifact, inputsOf(all));
  ASSERT_EQ(y.size(), main.getNumResults());
  for (uint32_t member : all)
    expectReference(main, y, member);

  auto expect = [&](ArrayRef<HostTensor> got, ArrayRef<uint32_t> members,
                    std::optional<std::pair<int64_t, int64_t>> rows, const std::string &what) {
    ASSERT_EQ(got.size(), y.size()) << what;
    for (auto [i, one] : llvm::enumerate(got)) {
      HostTensor want = choose(y[i], members);
      if (rows)
        want = rowsOf(want, main.getResultTypes()[i], *rows);
      EXPECT_EQ(difference(one, want), "") << "y" << i << ", " << what;
    }
  };
  std::vector<uint32_t> turned(all.rbegin(), all.rend() - 1);
  for (uint32_t threads : threadCounts())
    expect(run(*artifact, inputsOf(turned), {turned, threads}), turned, {}, "a set");
  using Rows = std::pair<int64_t, int64_t>;
  if (graph.hasBatch)
    for (Rows rows : {Rows(3, 4), Rows(1, 4)})
      expect(run(*artifact, inputsOf(all, rows), {{}, threadCounts().back()}), all, rows,
             std::to_string(rows.second - rows.first) + " rows");
  if (!cudaTarget())
    expect(run(*artifact, inputsOf(turned), {.active = turned, .threads = 2, .strips = true}), turned, {}, "in strips");
  if (levels.size() > 1)
    expect(run(*artifact, inputsOf(all), {{}, 1, "x86-64-v4"}), all, {}, "x86-64-v4");
  if (cudaTarget() && hasCpuBits())
    expect(run(*artifact, inputsOf(all), {{}, 1, "x86-64-v3"}), all, {}, "x86-64-v3");
  uint32_t one = all.back();
  if (std::unique_ptr<Artifact> alone = compiled(one))
    expect(run(*alone, inputsOf(one)), one, {}, "alone");
}

TEST_P(RandomLaw, Holds) {
  check();
  if (HasFailure()) // of member 0
    std::cerr << "// seed " << GetParam() << "\n" << replayable(graph.model) << "\n";
}

/// For a device, whose compilers take their time, fewer.
static testing::internal::ParamGenerator<unsigned> seeds() { return testing::Range(0u, cudaTarget() ? 12u : 80u); }
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLaw, seeds(), [](const auto &info) { return std::to_string(info.param); });

} // namespace tutti::laws
