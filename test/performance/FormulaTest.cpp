// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What holds for every prediction.
#include "compiler/performance/Predict.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

KernelWork layers(int64_t blocks, unsigned count) {
  KernelWork w;
  w.name = "layers";
  w.threads = 256;
  w.registers = 96;
  w.sharedBytes = 60 << 10;
  w.blocks = blocks;
  w.dramBytes = double(blocks) * 128 * 128 * 4;
  w.inFlight = 32 << 10;
  for (unsigned i = 0; i < count; ++i) {
    StepWork step{.what = "128 x 128", .product = NumericsProduct::tf32x3};
    step.products = 64 * 128 * 128;
    step.sharedBytes = 64 * 128 * 4 * 5;
    step.l2Bytes = 128 * 128 * 4;
    step.chain = {.shared = 4, .mma = 48, .barriers = 1};
    w.steps.push_back(step);
  }
  return w;
}

TEST(Formula, NeverBelowTheFloor) {
  for (const DeviceModel &device : deviceModels())
    for (unsigned count : {1u, 3u, 9u})
      for (int64_t blocks : {1, 10, 1000}) {
        KernelWork w = layers(blocks, count);
        Prediction p = predict(w, device);
        ASSERT_GT(p.resident, 0);
        EXPECT_GT(p.layers, 0);
        EXPECT_GE(p.seconds, p.launch + p.firstByte + p.layers);
        EXPECT_GE(p.seconds, p.launch + p.firstByte + p.dram);
        EXPECT_GE(p.firstByte, device.dramLatency / device.clock);
      }
}

TEST(Formula, MoreBlocksNeverTakeLess) {
  for (const DeviceModel &device : deviceModels()) {
    double before = 0;
    for (int64_t blocks = 1; blocks < 3000; ++blocks) {
      double now = predict(layers(blocks, 3), device).seconds;
      ASSERT_GE(now, before) << device.name.str() << ", " << blocks << " blocks";
      before = now;
    }
  }
}

TEST(Formula, PartsOfALaunch) {
  for (const DeviceModel &device : deviceModels())
    for (int64_t blocks : {2, 60, 1000}) {
      double whole = predict(layers(blocks, 3), device).seconds;
      double halves = predict(together({layers(blocks / 2, 3), layers(blocks / 2, 3)}), device).seconds;
      EXPECT_NEAR(halves, whole, 1e-9 * whole) << "parts that are alike are one";
      KernelWork shallow = layers(blocks, 3), deep = layers(blocks / 2, 9), both = together({deep, shallow});
      double a = predict(shallow, device).seconds, b = predict(deep, device).seconds,
             now = predict(both, device).seconds;
      EXPECT_GE(now, std::max(a, b));
      EXPECT_LE(now, a + b - device.launch) << "one launch less";
      EXPECT_EQ(both.blocks, blocks + blocks / 2);
      EXPECT_EQ(both.total(&StepWork::products), shallow.total(&StepWork::products) + deep.total(&StepWork::products));
      EXPECT_EQ(both.layers(), 9u);
    }
}

TEST(Formula, MoreWorkNeverTakesLess) {
  const DeviceModel &device = *findDeviceModel("H200");
  KernelWork w = layers(500, 3);
  double before = predict(w, device).seconds;
  for (double StepWork::*count : {&StepWork::products, &StepWork::fp32, &StepWork::integer, &StepWork::special,
                                  &StepWork::fp64, &StepWork::moves, &StepWork::sharedBytes, &StepWork::l2Bytes}) {
    KernelWork more = w;
    more.steps[1].*count += 1e7;
    EXPECT_GT(predict(more, device).seconds, before);
  }
  KernelWork deeper = w;
  deeper.blocks = 1;
  double alone = predict(deeper, device).seconds;
  deeper.steps[1].chain.barriers += 100;
  EXPECT_GT(predict(deeper, device).seconds, alone);
}

// Blocks and warps that share a pipe wait for each other's turns: more than the longest alone, and than the pipe needs,
// and less than one after the other.
TEST(Formula, SideBySideTakesMoreThanEither) {
  const DeviceModel &device = *findDeviceModel("H200");
  KernelWork w;
  w.threads = 128;
  StepWork step{.what = "half of it busy"};
  step.chain.fp32 = 10000;
  step.integer = 10000 * DeviceModel::fp32Latency / 2 * DeviceModel::integer;
  w.steps = {step};
  auto body = [&](int64_t blocks) {
    w.blocks = blocks * device.processors;
    Prediction p = predict(w, device);
    return (p.seconds - p.launch - p.firstByte) * device.clock;
  };
  double alone = body(1), two = body(2), four = body(4);
  EXPECT_EQ(alone, 10000 * DeviceModel::fp32Latency);
  EXPECT_DOUBLE_EQ(two, 1.25 * alone); // half of the time the other one is there half as long
  EXPECT_GT(four, 4 * alone / 2);
  EXPECT_LT(four, 4 * alone);
}

TEST(Formula, ClustersFindRoomOnFewerProcessors) {
  const DeviceModel &device = *findDeviceModel("H200");
  KernelWork w = layers(128, 3);
  w.sharedBytes = 200 << 10;
  double before = predict(w, device).seconds;
  w.cluster = 2;
  EXPECT_EQ(predict(w, device).seconds, before);
  w.cluster = 4;
  EXPECT_GT(predict(w, device).seconds, 1.5 * before); // eight blocks wait for a second round
  w.blocks = 120;
  EXPECT_LE(predict(w, device).seconds, before);
}

TEST(Formula, TheBoundIsThePipeThatIsBusiest) {
  const DeviceModel &device = *findDeviceModel("A100");
  KernelWork w = layers(5000, 3);
  EXPECT_EQ(predict(w, device).bound, Bound::tensor);
  w.steps[0].special = 1e7;
  EXPECT_EQ(predict(w, device).bound, Bound::special);
  w.dramBytes = 1e12;
  EXPECT_EQ(predict(w, device).bound, Bound::dram);
  KernelWork waits;
  EXPECT_EQ(predict(waits, device).bound, Bound::launch);
  waits.steps.push_back({.what = "a list"});
  waits.steps[0].chain.l2 = 100;
  EXPECT_EQ(predict(waits, device).bound, Bound::latency);
}

// The occupancy calculator of the CUDA toolkit gives the same.
TEST(Formula, ResidentBlocks) {
  const Architecture &hopper = *findArchitecture("sm_90a"), &ada = *findArchitecture("sm_89");
  EXPECT_EQ(residentBlocks(hopper, 256, 32, 0), 8);         // threads
  EXPECT_EQ(residentBlocks(hopper, 32, 32, 0), 32);         // blocks
  EXPECT_EQ(residentBlocks(hopper, 256, 128, 0), 2);        // registers
  EXPECT_EQ(residentBlocks(hopper, 256, 33, 0), 6);         // registers come by 256 a warp
  EXPECT_EQ(residentBlocks(hopper, 128, 32, 100 << 10), 2); // shared memory
  EXPECT_EQ(residentBlocks(ada, 256, 32, 0), 6);            // 1536 threads
  EXPECT_EQ(residentBlocks(ada, 128, 32, 100 << 10), 0);    // more than a block may have
}

TEST(Formula, DevicesByName) {
  EXPECT_EQ(deviceModels().size(), 6u);
  EXPECT_EQ(findDeviceModel("rtx4090"), findDeviceModel("RTX 4090"));
  EXPECT_EQ(findDeviceModel("h200")->name, "H200");
  EXPECT_FALSE(findDeviceModel("H300"));
  for (const DeviceModel &device : deviceModels())
    EXPECT_TRUE(findArchitecture(device.architecture)) << device.name.str();
}

} // namespace
