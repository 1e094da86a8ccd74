// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The heads that are fused into a kernel are the reference's heads of the members' compiled values, for any set, number
// of rows and threads.
#include "Compiled.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti::laws {

namespace {
struct Case {
  const char *name;
  const char *type; ///< of the result
  const char *body; ///< %0 of it, from %x: tensor<?x5xf32> and %w: tensor<5xf32>
  std::vector<std::string> heads = {"mean", "members", "var",          "std",          "min",
                                    "max",  "vote",    "quantile:0.0", "quantile:0.3", "quantile:1.0"};
};
void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }
} // namespace

static const Case cases[] = {
    {"pointwise", "tensor<?x5xf32, #tutti.sizes<batch>>",
     "%0 = tutti.mul %x, %w : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<5xf32>"},
    {"contract", "tensor<?x7xf32, #tutti.sizes<batch>>",
     "%v = tutti.get @v : tensor<5x7xf32> "
     "%0 = tutti.contract %x, %v \"bk,kn->bn\" : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<5x7xf32>"},
    {"scalar", "tensor<?x1xf32, #tutti.sizes<batch>>",
     "%1 = tutti.mul %x, %w : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<5xf32> "
     "%0 = tutti.reduce max %1 [1] : tensor<?x5xf32, #tutti.sizes<batch>>"},
    {"integers", "tensor<?x5xi32, #tutti.sizes<batch>>",
     "%1 = tutti.mul %x, %w : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<5xf32> "
     "%0 = tutti.cast %1 : tensor<?x5xf32, #tutti.sizes<batch>> -> tensor<?x5xi32, #tutti.sizes<batch>>"},
    {"bools",
     "tensor<?x5xi1, #tutti.sizes<batch>>",
     "%1 = tutti.greater %x, %w : tensor<?x5xf32, #tutti.sizes<batch>>, tensor<5xf32> %0 = tutti.not %1 : "
     "tensor<?x5xi1, #tutti.sizes<batch>>",
     {"min", "members", "max", "vote"}},
    {"shared", "tensor<?x5xf32, #tutti.sizes<batch>>", "%0 = tutti.exp %x : tensor<?x5xf32, #tutti.sizes<batch>>"},
};

/// Whether `got` is the reference's head of the members; where that is no number, only the CPU's bits count.
static void expectHead(const std::string &name, const HostTensor &all, const HostTensor &got) {
  auto axes = llvm::map_to_vector(all.dims, [](int64_t length) { return Size(length); });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context()));
  OpBuilder builder(module->getBodyRegion());
  Value value = ConstantOp::create(builder, builder.getUnknownLoc(), getTensorType(axes, all.element),
                                   cast<ElementsAttr>(builder.getZeroAttr(getTensorType(axes, all.element))));
  auto [kind, q] = StringRef(name).split(':');
  double at = 0;
  bool isQuantile = !q.empty() && !q.getAsDouble(at);
  auto head = HeadOp::create(builder, builder.getUnknownLoc(), *symbolizeHeadKind(kind), value,
                             isQuantile ? builder.getF64FloatAttr(at) : FloatAttr());
  EvaluateContext reference;
  FailureOr<HostTensor> want = head.evaluate(reference, all);
  ASSERT_TRUE(succeeded(want));
  ASSERT_EQ(got.dims, want->dims) << name;
  ASSERT_EQ(got.element, want->element) << name;
  EXPECT_EQ(got.ints, want->ints) << name;
  for (size_t e = 0; e < want->floats.size(); ++e) {
    double a = got.floats[e], b = want->floats[e];
    if (!std::isfinite(b)) {
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
          << name << ", element " << e << ": " << a << ", not " << b;
      continue;
    }
    // A spread that is nothing has the rounding of the mean in it, so in absolute terms too.
    EXPECT_LE(std::fabs(a - b), 1e-5 * std::fabs(b) + 2e-5) << name << ", element " << e << ": " << a << ", not " << b;
  }
}

struct HeadLaw : testing::TestWithParam<Case> {};

TEST_P(HeadLaw, Holds) {
  const std::vector<std::string> &heads = GetParam().heads;
  std::string list;
  for (const std::string &head : heads)
    list += (list.empty() ? "\"" : ", \"") + head + "\"";
  std::string type = GetParam().type;
  std::string text = "tutti.param @w : tensor<5xf32> tutti.param @v : tensor<5x7xf32> "
                     "func.func @main(%x: tensor<?x5xf32, #tutti.sizes<batch>>) -> (" +
                     type + " {tutti.heads = [" + list + "]}) { %w = tutti.get @w : tensor<5xf32> " + GetParam().body +
                     " return %0 : " + type + " }";
  for (int64_t members : {1, 2, 7}) {
    std::mt19937 generator(members);
    Model model{text, {}, members};
    Type f32 = Float32Type::get(&context());
    for (int64_t m = 0; m < members; ++m) {
      model.params["w"].push_back(random(generator, f32, {5}));
      model.params["v"].push_back(random(generator, f32, {5, 7}));
    }
    llvm::Expected<std::unique_ptr<Artifact>> artifact = Artifact::compile(model);
    ASSERT_TRUE(bool(artifact)) << llvm::toString(artifact.takeError());
    if (!(*artifact)->runs())
      continue; // no device: that it compiles, and spills nothing, is the test
    for (int64_t rows : {1, 5, 64}) {
      HostTensor x = random(generator, f32, {rows, 5});
      for (uint32_t threads : threadCounts())
        for (std::vector<uint32_t> active : {std::vector<uint32_t>{}, {0}, {1, 0}, {6, 2, 4, 0}}) {
          if (llvm::any_of(active, [&](uint32_t m) { return m >= members; }))
            continue;
          SCOPED_TRACE(std::to_string(members) + " members, " + std::to_string(rows) + " rows, " +
                       std::to_string(threads) + " threads, a set of " + std::to_string(active.size()));
          llvm::Expected<std::vector<HostTensor>> results = (*artifact)->run(x, {active, threads});
          ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
          ASSERT_EQ(results->size(), std::size(heads));
          const HostTensor &all = (*results)[1];
          auto axes = llvm::map_to_vector(all.dims, [](int64_t length) { return Size(length); });
          for (size_t i = 0; i < std::size(heads); ++i) {
            if (heads[i] == "members")
              continue;
            expectHead(heads[i], all, (*results)[i]);
          }
        }
    }
  }
}

/// Many members, several outputs; values that are equal, -0 and +0, NaN and infinite. On a CUDA target, the CPU's bits.
struct ManyMembers : testing::TestWithParam<int> {};

TEST_P(ManyMembers, Hold) {
  const std::vector<std::string> heads[] = {
      {"members", "mean", "std", "min", "max", "quantile:0.0", "quantile:0.5", "quantile:0.31", "quantile:1.0"},
      {"members", "var", "quantile:0.31"},
      {"members", "mean", "max", "vote", "quantile:0.5"},
      {"vote"}};
  const std::string types[] = {"tensor<?x5xf32, #tutti.sizes<batch>>", "tensor<?x5xf64, #tutti.sizes<batch>>",
                               "tensor<?x5xi32, #tutti.sizes<batch>>", "tensor<?x4xf32, #tutti.sizes<batch>>"};
  std::string results;
  for (auto [type, names] : llvm::zip_equal(types, heads)) {
    results += (results.empty() ? "" : ", ") + type + " {tutti.heads = [";
    for (const std::string &name : names)
      results += (results.back() == '[' ? "\"" : ", \"") + name + "\"";
    results += "]}";
  }
  Model model{"tutti.param @w : tensor<5xf32> func.func @main(%x: " + types[0] + ") -> (" + results +
                  ") { %w = tutti.get @w : tensor<5xf32> %0 = tutti.mul %x, %w : " + types[0] +
                  ", tensor<5xf32> %1 = tutti.cast %0 : " + types[0] + " -> " + types[1] +
                  " %2 = tutti.cast %0 : " + types[0] + " -> " + types[2] +
                  " %3 = tutti.slice %0 from [0, 0] size [-1, 4] step [1, 1] : " + types[0] +
                  " return %0, %1, %2, %3 : " + llvm::join(ArrayRef(types), ", ") + " }",
              {},
              GetParam()};
  std::mt19937 generator(model.members);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {-2, -1, -0.0, 0.0, 1, 1, 0.3f, 7};
  for (int64_t m = 0; m < model.members; ++m) {
    HostTensor w = HostTensor::zeros(Float32Type::get(&context()), {5});
    for (auto [i, value] : llvm::enumerate(w.floats))
      value = i == 3 ? static_cast<float>(static_cast<int>(generator() % 20001) - 10000) / 16.0f // hardly any are equal
              : i == 4 ? (generator() % 97 == 0 ? std::nan("")
                          : generator() % 3     ? 3.5
                                                : infinity)
                       : values[generator() % std::size(values)];
    model.params["w"].push_back(w);
  }
  auto artifact = Artifact::compile(model);
  ASSERT_TRUE(bool(artifact)) << llvm::toString(artifact.takeError());
  constexpr int64_t rows = 5;
  HostTensor x = HostTensor::zeros(Float32Type::get(&context()), {rows, 5});
  for (auto [i, value] : llvm::enumerate(x.floats))
    value = i / 5 % 3 == 1 ? -1 : i / 5 % 3 == 2 ? 0.7f : 1;
  for (uint32_t count : {model.members, (model.members + 1) / 2}) {
    SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(model.members));
    Call call;
    for (uint32_t m = 0; m < count; ++m)
      call.active.push_back(model.members - 1 - m);
    auto got = (*artifact)->run(x, call);
    ASSERT_TRUE(bool(got)) << llvm::toString(got.takeError());
    call.level = "x86-64-v3";
    auto onCpu = (*artifact)->run(x, call);
    ASSERT_TRUE(bool(onCpu)) << llvm::toString(onCpu.takeError());
    size_t next = 0;
    for (const std::vector<std::string> &names : heads) {
      const HostTensor &all = (*got)[next];
      for (const std::string &name : names) {
        EXPECT_EQ(difference((*got)[next], (*onCpu)[next]), "") << name << ", beside the CPU";
        if (name != "members" && names.size() > 1)
          expectHead(name, all, (*got)[next]);
        ++next;
      }
    }
  }
}

/// Of two members, of which one is infinite, whichever side that is on.
TEST(Heads, QuantilesBesideAnInfinityAreIt) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  HostTensor all = HostTensor::zeros(Float32Type::get(&context()), {2, 3}), want = HostTensor::zeros(all.element, {3});
  all.floats = {-infinity, 3, -infinity, -3, infinity, -infinity};
  want.floats = {-infinity, infinity, -infinity};
  expectHead("quantile:0.5", all, want);
}

INSTANTIATE_TEST_SUITE_P(Heads, ManyMembers, testing::Values(1, 2, 7, 31, 32, 33, 300));
INSTANTIATE_TEST_SUITE_P(Heads, HeadLaw, testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace tutti::laws
