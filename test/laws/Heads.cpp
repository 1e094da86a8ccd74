// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The heads that are fused into a kernel are the reference's heads of the members' compiled values, for any set, number of
// rows and threads.
#include "Compiled.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;

namespace tutti::laws {

namespace {
struct Case {
  const char *name;
  const char *type; ///< of the result
  const char *body; ///< %0 of it, from %x: tensor<?x5xf32> and %w: tensor<5xf32>
};
void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }
} // namespace

static const Case cases[] = {
    {"pointwise", "tensor<?x5xf32, [\"batch\"]>", "%0 = tutti.mul %x, %w : tensor<?x5xf32, [\"batch\"]>, tensor<5xf32>"},
    {"contract", "tensor<?x7xf32, [\"batch\"]>",
     "%v = tutti.get @v : tensor<5x7xf32> "
     "%0 = tutti.contract %x, %v \"bk,kn->bn\" : tensor<?x5xf32, [\"batch\"]>, tensor<5x7xf32>"},
    {"scalar", "tensor<?x1xf32, [\"batch\"]>",
     "%1 = tutti.mul %x, %w : tensor<?x5xf32, [\"batch\"]>, tensor<5xf32> "
     "%0 = tutti.reduce max %1 [1] : tensor<?x5xf32, [\"batch\"]>"},
    {"integers", "tensor<?x5xi32, [\"batch\"]>",
     "%1 = tutti.mul %x, %w : tensor<?x5xf32, [\"batch\"]>, tensor<5xf32> "
     "%0 = tutti.cast %1 : tensor<?x5xf32, [\"batch\"]> -> tensor<?x5xi32, [\"batch\"]>"},
    {"shared", "tensor<?x5xf32, [\"batch\"]>", "%0 = tutti.exp %x : tensor<?x5xf32, [\"batch\"]>"},
};

struct HeadLaw : testing::TestWithParam<Case> {};

TEST_P(HeadLaw, Holds) {
  const std::string heads[] = {"mean", "members", "var", "std", "min", "max", "vote", "quantile:0.0", "quantile:0.3", "quantile:1.0"};
  std::string list;
  for (const std::string &head : heads)
    list += (list.empty() ? "\"" : ", \"") + head + "\"";
  std::string type = GetParam().type;
  std::string text = "tutti.param @w : tensor<5xf32> tutti.param @v : tensor<5x7xf32> "
                     "func.func @main(%x: tensor<?x5xf32, [\"batch\"]>) -> (" +
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
    for (int64_t rows : {1, 5, 64}) {
      HostTensor x = random(generator, f32, {rows, 5});
      for (uint32_t threads : threadCounts())
        for (std::vector<uint32_t> active : {std::vector<uint32_t>{}, {0}, {1, 0}, {6, 2, 4, 0}}) {
          if (llvm::any_of(active, [&](uint32_t m) { return m >= members; }))
            continue;
          SCOPED_TRACE(std::to_string(members) + " members, " + std::to_string(rows) + " rows, " + std::to_string(threads) +
                       " threads, a set of " + std::to_string(active.size()));
          llvm::Expected<std::vector<HostTensor>> results = (*artifact)->run(x, {active, threads});
          ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
          ASSERT_EQ(results->size(), std::size(heads));
          const HostTensor &all = (*results)[1];
          auto axes = llvm::map_to_vector(all.dims, [](int64_t length) { return Size(length); });
          for (size_t i = 0; i < std::size(heads); ++i) {
            if (heads[i] == "members")
              continue;
            OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context()));
            OpBuilder builder(module->getBodyRegion());
            Value value = ConstantOp::create(builder, builder.getUnknownLoc(), getTensorType(axes, all.element),
                                             cast<ElementsAttr>(builder.getZeroAttr(getTensorType(axes, all.element))));
            auto [kind, q] = StringRef(heads[i]).split(':');
            double at = 0;
            bool isQuantile = !q.empty() && !q.getAsDouble(at);
            auto head = HeadOp::create(builder, builder.getUnknownLoc(), *symbolizeHeadKind(kind), value,
                                       isQuantile ? builder.getF64FloatAttr(at) : FloatAttr());
            EvaluateContext reference;
            FailureOr<HostTensor> want = head.evaluate(reference, all);
            ASSERT_TRUE(succeeded(want));
            ASSERT_EQ((*results)[i].dims, want->dims) << heads[i];
            ASSERT_EQ((*results)[i].element, want->element) << heads[i];
            EXPECT_EQ((*results)[i].ints, want->ints) << heads[i];
            for (size_t e = 0; e < want->floats.size(); ++e) {
              double a = (*results)[i].floats[e], b = want->floats[e];
              // A spread that is nothing has the rounding of the mean in it, so in absolute terms too.
              EXPECT_LE(std::fabs(a - b), 1e-5 * std::fabs(b) + 2e-5) << heads[i] << ", element " << e << ": " << a << ", not " << b;
            }
          }
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, HeadLaw, testing::ValuesIn(cases), [](const auto &info) { return std::string(info.param.name); });

} // namespace tutti::laws
