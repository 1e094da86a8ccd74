// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting the kernel of a small multi-layer perceptron, and what follows for its predictions.
#include "compiler/Compiler.h"
#include "compiler/codegen/cuda/Launches.h"
#include "runtime/support/GridChoice.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tutti;

namespace {

constexpr int64_t inputs = 20, hidden = 48, outputs = 10;

/// x [batch, 20] -> 48, ReLU -> 10, and the members' mean; its weights are multiplied by `product`.
std::string planned(StringRef product, StringRef precision) {
  constexpr const char *text = R"(
#same = affine_map<(m, b, n) -> (m, b, n)>
#bias = affine_map<(m, b, n) -> (m, 0, n)>
module attributes {{tutti.members = 1000 : i64, tutti.precision = #tutti<precision {0}>, tutti.target = #tutti<target cuda>} {{
  tutti.param per_member @w0 : tensor<20x48xf32>
  tutti.param per_member @b0 : tensor<48xf32>
  tutti.param per_member @w1 : tensor<48x10xf32>
  plan.program @infer target cuda sizes {{active = array<i64: 1, 1000>, batch = array<i64: 1, 4096>} flops<> arena 163840000 {{
    %x = plan.buffer input : tensor<?x20xf32, #tutti.sizes<batch>> port<name = "x">
    %y = plan.buffer output : tensor<?x10xf32, #tutti.sizes<batch>> port<name = "y", head = "mean">
    %w0 = plan.buffer constant : tensor<?x20x48xf32, #tutti.sizes<active>> layout panels {{param = @w0}
    %b0 = plan.buffer constant : tensor<?x48xf32, #tutti.sizes<active>> layout raw {{param = @b0}
    %w1 = plan.buffer constant : tensor<?x48x10xf32, #tutti.sizes<active>> layout panels {{param = @w1}
    %all = plan.buffer arena : tensor<?x?x10xf32, #tutti.sizes<active, batch>>
    %tickets = plan.buffer state : tensor<64xi32>
    plan.launch @k0(%x, %w0, %b0, %w1) to (%all, %y) tickets %tickets
  }
  plan.kernel @k0 chain lifted rows<batch> weights [1, 2, 3] schedule<tile = 64, quantum = 8, overhead = 4, scratch = 12288> {{
  ^bb0(%x: tensor<?x20xf32, #tutti.sizes<batch>>, %w0: tensor<?x20x48xf32, #tutti.sizes<active>>, %b0: tensor<?x1x48xf32, #tutti.sizes<active>>, %w1: tensor<?x48x10xf32, #tutti.sizes<active>>):
    %0 = tutti.contract %x, %w0 "bk,mkn->mbn" numerics<rule = panels, chunk = 32, product = {1}> : tensor<?x20xf32, #tutti.sizes<batch>>, tensor<?x20x48xf32, #tutti.sizes<active>>
    %1 = tutti.map %0, %b0 [#same, #bias] : (tensor<?x?x48xf32, #tutti.sizes<active, batch>>, tensor<?x1x48xf32, #tutti.sizes<active>>) -> tensor<?x?x48xf32, #tutti.sizes<active, batch>> {{
    ^bb0(%a: f32, %b: f32):
      %zero = arith.constant 0.0 : f32
      %sum = arith.addf %a, %b : f32
      %relu = arith.maximumf %sum, %zero : f32
      tutti.yield %relu : f32
    }
    %2 = tutti.contract %1, %w1 "mbk,mkn->mbn" numerics<rule = panels, chunk = 32, product = {1}> : tensor<?x?x48xf32, #tutti.sizes<active, batch>>, tensor<?x48x10xf32, #tutti.sizes<active>>
    %3 = tutti.head mean %2 : tensor<?x?x10xf32, #tutti.sizes<active, batch>>
    tutti.yield %2, %3 : tensor<?x?x10xf32, #tutti.sizes<active, batch>>, tensor<?x10xf32, #tutti.sizes<batch>>
  }
})";
  return llvm::formatv(text, precision, product).str();
}

class Count : public testing::Test {
protected:
  Count() {
    DialectRegistry dialects;
    registerDialects(dialects);
    context.appendDialectRegistry(dialects);
    context.loadAllAvailableDialects();
  }

  plan::KernelOp kernel(StringRef product, StringRef precision = "f32") {
    modules.push_back(parseSourceString<ModuleOp>(planned(product, precision), &context));
    return *modules.back()->getOps<plan::KernelOp>().begin();
  }

  /// The last module as if it had been compiled, each kernel with so many registers and threads.
  ProgramCode codeFor(StringRef architecture, unsigned registers, int64_t threads, bool persistent) {
    const Architecture &built = *findArchitecture(architecture);
    ProgramCode code{*modules.back(), nullptr};
    TargetImage image{.target = architecture.str(), .bytes = nullptr, .kernels = {}};
    code.launches = deviceLaunches(programOf(code.planned), built);
    for (const LaunchWay &way : launchWays(kernelsOf(code.launches.front()), built)) {
      CudaLaunch launch{.rows = {way.rows}, .threads = threads, .persistent = persistent};
      code.kernels.push_back({{0}, "k0", launch, std::make_shared<const LaunchWay>(way)});
      image.kernels.push_back({.registers = registers});
    }
    code.architectures.push_back(image.target);
    code.images.push_back(std::move(image));
    return code;
  }

  MLIRContext context;
  std::vector<OwningOpRef<ModuleOp>> modules;
};

const Architecture &hopper() { return *findArchitecture("sm_90a"); }

/// The geometry with so many rows.
CudaGeometry ofRows(plan::KernelOp kernel, const Architecture &architecture, int64_t rows) {
  for (const CudaGeometry &geometry : cudaGeometries(kernel, architecture))
    if (geometry.rows == rows)
      return geometry;
  ADD_FAILURE() << "no geometry has " << rows << " rows";
  return {};
}

} // namespace

TEST_F(Count, FloatingPointOperationsHaveNoPadding) {
  for (StringRef product : {"fma", "tf32x3"}) {
    plan::KernelOp k = kernel(product);
    KernelWork work = countKernel(k, cudaGeometries(k, hopper()).back(), {{"batch", 33}, {"active", 7}});
    EXPECT_EQ(work.flops, 2.0 * 7 * 33 * (inputs * hidden + hidden * outputs));
  }
}

TEST_F(Count, EachByteOfMemoryOnce) {
  constexpr double batch = 64, active = 3;
  plan::KernelOp k = kernel("fma");
  KernelWork work = countKernel(k, cudaGeometries(k, hopper()).back(), {{"batch", 64}, {"active", 3}});
  // Panels: 48 columns are 32 + 16; ten are eight and two.
  double members = (inputs * 48 + hidden + hidden * 10) * 4 + batch * outputs * 4;
  EXPECT_NEAR(work.dramBytes, batch * inputs * 4 + active * members + batch * outputs * 4, 0.1 * work.dramBytes);
  // Fragments: k in groups of 16, columns in tiles of eight.
  plan::KernelOp fragments = kernel("bf16", "bf16");
  work = countKernel(fragments, cudaGeometries(fragments, hopper()).back(), {{"batch", 64}, {"active", 3}});
  members = (32 * 48 + 48 * 16) * 2 + hidden * 4 + batch * outputs * 4;
  EXPECT_EQ(work.dramBytes, batch * inputs * 4 + active * members + batch * outputs * 4);
}

TEST_F(Count, TensorCoresMultiplyWholeFragments) {
  plan::KernelOp k = kernel("tf32x3");
  CudaGeometry geometry = ofRows(k, hopper(), 16);
  KernelWork work = countKernel(k, geometry, {{"batch", 5}, {"active", 3}});
  EXPECT_EQ(work.blocks, 3);
  // On tensor cores a layer is its products and then what follows them.
  ASSERT_EQ(work.steps.size(), 4u);
  const StepWork &first = work.steps[0], &afterFirst = work.steps[1], &second = work.steps[2], &last = work.steps[3];
  EXPECT_EQ(first.product, NumericsProduct::tf32x3);
  EXPECT_EQ(first.products, 16.0 * 32 * 48); // four warps share a panel, a tile of eight columns each
  EXPECT_EQ(second.products, 16.0 * 48 * 16);
  EXPECT_EQ(afterFirst.products + last.products, 0);
  // Weights go from the L2 cache to shared memory once; rows of the first layer come with them.
  EXPECT_EQ(first.l2Bytes, 32 * 48 * 4 + 5 * inputs * 4);
  EXPECT_EQ(afterFirst.l2Bytes, hidden * 4);
  EXPECT_EQ(second.l2Bytes, 48 * 16 * 4);
  EXPECT_EQ(last.l2Bytes, 5 * outputs * 4);
  // A layer ends with a barrier; each stage is waited for, by all threads where each of them brings a part.
  EXPECT_EQ(first.chain.barriers, 0);
  EXPECT_EQ(afterFirst.chain.barriers, 1);
  EXPECT_EQ(last.chain.barriers, 0); // the heads' follows
  EXPECT_EQ(second.chain.shared, 2); // one stage of 64 k: for its barrier, and for its first fragments
  // Two pairs of groups, which are sums of their own: between two products of one is one of the other.
  EXPECT_DOUBLE_EQ(second.chain.mma, 2 * 6 * (1 - 4 / 0.629 / DeviceModel::mmaLatency));
  EXPECT_EQ(second.inFlight, double(geometry.ring.stages) * 48 * 16 * 4);
  geometry.ring.producerWarps = 0;
  work = countKernel(k, geometry, {{"batch", 5}, {"active", 3}});
  EXPECT_EQ(work.steps[2].inFlight, double(geometry.ring.stages - 2) * 48 * 16 * 4);
  work = countKernel(k, ofRows(k, *findArchitecture("sm_80"), 16), {{"batch", 5}, {"active", 3}});
  EXPECT_EQ(work.steps[0].chain.barriers, 1);
  EXPECT_EQ(work.steps[1].chain.barriers, 0); // the next layer's first stage is waited for anyway
  EXPECT_EQ(work.steps[2].chain.barriers, 1);
}

TEST_F(Count, WeightsOfFewKAreLoadedOnce) {
  plan::KernelOp k = kernel("fma");
  CudaGeometry eight = cudaGeometries(k, hopper()).back(), all = eight;
  ASSERT_EQ(eight.rows, 8);
  all.rows = 128;
  KernelWork few = countKernel(k, eight, {{"batch", 128}, {"active", 3}}),
             many = countKernel(k, all, {{"batch", 128}, {"active", 3}});
  // Eight warps share a panel of 32 and then one of 16 columns: each has up to four groups of four rows and loads the
  // 20 weights of both panels once. Of the second layer's 48 k it loads eight at a time, for each eight rows.
  EXPECT_EQ(few.steps[0].products, 2 * 20.0 * 8 * 32);
  EXPECT_EQ(many.steps[0].products, 16 * few.steps[0].products);
  // The member's table, and of each panel the weights and what the columns read.
  EXPECT_EQ(few.steps[0].chain.l2, 1 + 2 * 2);
  EXPECT_EQ(many.steps[0].chain.l2, 1 + 2 * 2);
  EXPECT_EQ(few.steps[1].chain.l2, 6 + 1);
  EXPECT_EQ(many.steps[1].chain.l2, 2 * 6 + 1);
}

TEST_F(Count, BlocksOfAClusterShareTheColumns) {
  plan::KernelOp k = kernel("tf32x3");
  CudaGeometry one = ofRows(k, hopper(), 16), two = one;
  one.warps.columns = two.warps.columns = one.warps.panelParts = two.warps.panelParts =
      1; // 48 columns are a panel of four tiles and one of two
  two.warps.cluster = 2;
  CallSizes sizes = {{"batch", 16}, {"active", 3}};
  KernelWork alone = countKernel(k, one, sizes), shared = countKernel(k, two, sizes);
  EXPECT_EQ(shared.blocks, 2 * alone.blocks);
  EXPECT_EQ(shared.dramBytes, alone.dramBytes);
  EXPECT_EQ(alone.steps[0].products, 16.0 * 32 * 64);  // a panel of two tiles makes four, as the other one
  EXPECT_EQ(shared.steps[0].products, 16.0 * 32 * 32); // of the first block
  EXPECT_EQ(shared.steps[0].l2Bytes, 32 * 32 * 4 + 16 * inputs * 4);
  // A block's threads meet before they hand over what they made, which then is on its way.
  EXPECT_EQ(alone.steps[1].chain.barriers, 1);
  EXPECT_EQ(shared.steps[1].chain.barriers, 1);
  EXPECT_EQ(shared.steps[1].chain.clusterBarriers, 1);
}

TEST_F(Count, SlicesShareTheStagesAndMeetForTheirSums) {
  plan::KernelOp k = kernel("tf32x3");
  CudaGeometry one = ofRows(k, hopper(), 16);
  one.warps.panelParts = 1;
  CudaGeometry two = one;
  two.warps.slices = 2, two.threads = 2 * one.threads, two.exchange.stages = 1, two.ring.stages = 0;
  CallSizes sizes = {{"batch", 16}, {"active", 3}};
  KernelWork alone = countKernel(k, one, sizes), sliced = countKernel(k, two, sizes);
  EXPECT_EQ(sliced.steps[2].products, alone.steps[2].products);
  // Of one group at a time fewer products stand between two of one sum.
  EXPECT_GT(sliced.steps[2].chain.mma, alone.steps[2].chain.mma);
  EXPECT_GT(sliced.steps[2].sharedBytes, alone.steps[2].sharedBytes);
  EXPECT_EQ(sliced.steps[0].l2Bytes, alone.steps[0].l2Bytes); // rows of an input, which do not go through the ring
}

TEST_F(Count, AWarpsInstructionsAreThoseOfTheBusiest) {
  plan::KernelOp k = kernel("tf32x3");
  CudaGeometry geometry = ofRows(k, hopper(), 16);
  auto chainOf = [&](int64_t batch) { return countKernel(k, geometry, {{"batch", batch}, {"active", 3}}); };
  KernelWork one = chainOf(1), all = chainOf(16);
  // Fragments have sixteen rows whether they are there or not.
  for (size_t i = 0; i < all.steps.size(); ++i)
    EXPECT_EQ(one.steps[i].chain.fp32, all.steps[i].chain.fp32) << all.steps[i].what;
  // Of ten columns one panel's warps have products; of 48 two panels': the busiest of each has as many.
  double first = all.steps[0].chain.fp32, second = all.steps[2].chain.fp32;
  EXPECT_GT(second, 0.8 * first);
  // All warps do no more than so many times the busiest's, beside what a producer does.
  double instructions = (all.steps[2].fp32 + all.steps[2].integer + all.steps[2].moves) / 32;
  EXPECT_LT(instructions, second * double(geometry.threads) / 32 + 200);
}

TEST_F(Count, CostsOfBlocksPredictLaunches) {
  // What the runtime is told leads to the time that the model predicts where data are in the L2 cache.
  plan::KernelOp k = kernel("tf32x3");
  const DeviceModel &device = *findDeviceModel("H100");
  for (int64_t rows : {16, 64})
    for (int64_t members : {1, 30, 500}) {
      CudaGeometry geometry = ofRows(k, hopper(), rows);
      KernelWork work = countKernel(k, geometry, {{"batch", 256}, {"active", members}}),
                 one = countKernel(k, geometry, {{"batch", 1}, {"active", members}});
      work.warm = true;
      work.last.clear(); // heads, which are the same whatever the tile
      work.members = membersOfBlock(work, device);
      double clocks = rt::launchClocks(blockCost(work, one, rows, device), uint64_t(work.launched()),
                                       uint64_t(work.members), roomOf(work, device));
      Prediction predicted = predict(work, device);
      double body = (predicted.seconds - predicted.launch - predicted.firstByte) * device.clock;
      EXPECT_NEAR(clocks, body, 0.05 * body) << rows << " rows, " << members << " members";
    }
}

TEST_F(Count, PersistentBlocksBeginOnce) {
  plan::KernelOp k = kernel("bf16", "bf16");
  CudaGeometry geometry = ofRows(k, hopper(), 16);
  ASSERT_TRUE(geometry.persistent);
  const DeviceModel &device = *llvm::find_if(deviceModels(), [](const DeviceModel &d) { return d.name == "H200"; });
  KernelWork work = countKernel(k, geometry, {{"batch", 5}, {"active", 3000}});
  EXPECT_EQ(work.blocks, 3000);
  ASSERT_EQ(work.once.size(), 1u); // the begin, and the input's rows as 16-bit floats
  EXPECT_GE(work.once[0].l2Bytes, 5 * inputs * 4);
  double before = predict(work, device).seconds, bytes = work.total(&StepWork::l2Bytes);
  work.members = membersOfBlock(work, device);
  EXPECT_GT(work.members, 1);
  EXPECT_LE(work.launched(), residentBlocks(hopper(), work.threads, work.registers, work.sharedBytes) * 132);
  EXPECT_EQ(bytes - work.total(&StepWork::l2Bytes), work.once[0].l2Bytes * double(3000 - work.launched()));
  EXPECT_LT(predict(work, device).seconds, before);
  geometry.persistent = false;
  work = countKernel(k, geometry, {{"batch", 5}, {"active", 3000}});
  EXPECT_TRUE(work.once.empty());
  EXPECT_EQ(membersOfBlock(work, device), 1);
}

TEST_F(Count, ScalarCodeByPipe) {
  plan::KernelOp k = kernel("fma");
  MapOp map;
  k.getBody().walk([&](MapOp op) { map = op; });
  ScalarWork own = countScalar(map);
  EXPECT_EQ(own.fp32, 1);    // the sum
  EXPECT_EQ(own.integer, 1); // the maximum with a number: a comparison and a selection, which are one
  EXPECT_EQ(own.special, 0);
}

TEST_F(Count, MoreRowsOrMembersNeverTakeLess) {
  for (StringRef product : {"fma", "tf32x3", "bf16"}) {
    plan::KernelOp k = kernel(product);
    for (const DeviceModel &device : deviceModels())
      for (const CudaGeometry &geometry : cudaGeometries(k, device.limits())) {
        auto seconds = [&](int64_t batch, int64_t active) {
          KernelWork work = countKernel(k, geometry, {{"batch", batch}, {"active", active}});
          work.members = membersOfBlock(work, device);
          return predict(work, device).seconds;
        };
        double before = 0;
        for (int64_t batch : {1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 128, 1000, 4096}) {
          double now = seconds(batch, 10);
          EXPECT_GE(now, before) << device.name.str() << ", " << product.str() << ", batch " << batch;
          before = now;
        }
        before = 0;
        for (int64_t active : {1, 2, 3, 10, 64, 132, 133, 264, 265, 1000}) {
          double now = seconds(64, active);
          EXPECT_GE(now, before) << device.name.str() << ", " << product.str() << ", members " << active;
          before = now;
        }
      }
  }
}

TEST_F(Count, NeverBelowLaunchFirstByteAndLayers) {
  for (StringRef product : {"fma", "tf32x3", "f16"}) {
    kernel(product);
    for (int64_t batch : {1, 64, 4096}) {
      auto all = estimate(*modules.back(), {{"batch", batch}, {"active", 10}}, {});
      ASSERT_TRUE(bool(all));
      for (const LaunchEstimate &launch : all->launches.front()) {
        EXPECT_GE(launch.cold.seconds, launch.cold.launch + launch.cold.firstByte + launch.cold.layers);
        EXPECT_GE(launch.warm.seconds, launch.warm.launch + launch.warm.firstByte + launch.warm.layers);
        EXPECT_GT(launch.cold.layers, 0);
        EXPECT_LE(launch.warm.seconds, launch.cold.seconds);
        EXPECT_TRUE(launch.work.registersEstimated);
      }
    }
  }
}

TEST_F(Count, RegistersOfACubinWhereThereIsOne) {
  kernel("fma");
  auto all = estimate(*modules.back(), {}, codeFor("sm_89", 72, 224, false));
  ASSERT_TRUE(bool(all));
  EXPECT_EQ(all->sizes.at("batch"), 4096); // the largest
  EXPECT_EQ(all->sizes.at("active"), 1000);
  for (const LaunchEstimate &launch : all->launches.front()) {
    bool known = launch.device->architecture == "sm_89";
    EXPECT_EQ(launch.work.registersEstimated, !known);
    EXPECT_EQ(launch.work.registers == 72, known);
    EXPECT_EQ(launch.work.threads == 224, known); // of a version, maybe
  }
}

TEST_F(Count, BlocksOfWhatWasBuiltToPersistHaveSeveralMembers) {
  kernel("bf16", "bf16");
  for (bool persistent : {true, false}) {
    auto all = estimate(*modules.back(), {{"batch", 5}}, codeFor("sm_90a", 96, 256, persistent)); // of 1000 members
    ASSERT_TRUE(bool(all));
    for (const LaunchEstimate &launch : all->launches.front())
      if (launch.device->architecture == "sm_90a") {
        EXPECT_EQ(launch.work.members > 1, persistent);
      }
  }
}

TEST_F(Count, SizesThatDoNotFitAreErrors) {
  kernel("fma");
  auto message = [&](const CallSizes &at) {
    auto all = estimate(*modules.back(), at, {});
    return all ? std::string() : llvm::toString(all.takeError());
  };
  EXPECT_EQ(message({{"batch", 5000}}), "--explain-at batch=5000: batch is 1..4096");
  EXPECT_EQ(message({{"rows", 5}}), "--explain-at rows: no size is called so; the sizes are: active, batch");
}
