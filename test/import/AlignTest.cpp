// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Members that align, members that differ, and what is shared.
#include "Support.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/onnx/Importer.h"
#include "dialects/tutti/Module.h"

#include "mlir/IR/Verifier.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <numeric>

using namespace mlir;

namespace tutti::test {
namespace {

class AlignTest : public testing::Test {
protected:
  MLIRContext context;

  llvm::Expected<Ensemble> alignSet(const std::string &set, bool share = true) {
    return align(context, membersOf(set), {}, {share});
  }

  /// Every member of the aligned set, evaluated in float64, gives what torch gave.
  void expectOutputs(const std::string &set) {
    llvm::Expected<Ensemble> ensemble = alignSet(set);
    ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
    EXPECT_TRUE(succeeded(verify(*ensemble->module)));
    std::map<std::string, HostTensor> inputs{{"x", readNpy(context, model(set) + "/case/in/x.npy")}};
    HostTensor expected = readNpy(context, model(set) + "/case/out/y.npy");
    int64_t each = expected.count() / expected.dims[0];
    ASSERT_EQ(expected.dims[0], int64_t(ensemble->members.size()));
    for (size_t m = 0; m < ensemble->members.size(); ++m) {
      HostTensor y = evaluate(*ensemble, m, inputs)["y"];
      ASSERT_EQ(y.count(), each);
      for (int64_t i = 0; i < each; ++i)
        ASSERT_NEAR(y.floats[i], expected.floats[m * each + i], 2e-6) << "member " << m << ", element " << i;
    }
  }
};

TEST_F(AlignTest, DriftRelu) { expectOutputs("drift-relu"); }
TEST_F(AlignTest, DriftNorm) { expectOutputs("drift-norm"); }
TEST_F(AlignTest, DriftResidual) { expectOutputs("drift-residual"); }

TEST_F(AlignTest, ModuleForm) {
  llvm::Expected<Ensemble> ensemble = alignSet("drift-relu");
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  ModuleOp module = *ensemble->module;
  EXPECT_EQ(getMembers(module), 5);
  SmallVector<SizeRange> ranges = getSizeRanges(module);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].symbol, "batch");
  EXPECT_EQ(ranges[0].least, 1);
  EXPECT_EQ(ranges[0].most, 64);
  EXPECT_EQ(countOps(module, "tutti.contract"), 3u);
  EXPECT_EQ(countOps(module, "tutti.transpose"), 0u);
  EXPECT_EQ(ensemble->weights.size(), 6u);
  // Stored as [out, in] by the first member and as [in, out] by the last.
  const std::vector<WeightSource> &weight = ensemble->weights["p0"];
  ASSERT_EQ(weight.size(), 5u);
  EXPECT_EQ(weight[0].name, "0.weight");
  EXPECT_EQ(weight[0].dims, (SmallVector<int64_t>{12, 32}));
  EXPECT_EQ(weight[0].rawDims, (SmallVector<int64_t>{32, 12}));
  EXPECT_EQ(weight[0].perm, (SmallVector<uint32_t>{1, 0}));
  EXPECT_FALSE(weight[0].contiguous());
  EXPECT_TRUE(weight[4].perm.empty());
  EXPECT_TRUE(weight[4].contiguous());
  EXPECT_TRUE(weight[0].whole);
}

TEST_F(AlignTest, LocationsNameNodes) {
  llvm::Expected<Ensemble> ensemble = alignSet("drift-relu");
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  std::set<std::string> places;
  mainOf(*ensemble->module).walk([&](ReluOp op) { places.insert(describe(op.getLoc())); });
  EXPECT_EQ(places, (std::set<std::string>{"node '/1/Relu' (Relu)", "node '/3/Relu' (Relu)"}));
}

TEST_F(AlignTest, SharedByContent) {
  // The norms of all members still have scale 1 and bias 0.
  llvm::Expected<Ensemble> ensemble = alignSet("drift-norm");
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  size_t shared = 0;
  for (ParamOp param : ensemble->module->getOps<ParamOp>()) {
    EXPECT_EQ(ensemble->weights[param.getSymName()].size(), param.getPerMember() ? 5u : 1u);
    shared += !param.getPerMember();
  }
  EXPECT_EQ(shared, 2u);
  EXPECT_EQ(ensemble->weights.size(), 8u);
  EXPECT_EQ(countOps(*ensemble->module, "tutti.constant"), 2u);
}

TEST_F(AlignTest, ShareNoneKeepsEveryWeightPerMember) {
  llvm::Expected<Ensemble> ensemble = alignSet("drift-norm", false);
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  for (ParamOp param : ensemble->module->getOps<ParamOp>()) {
    EXPECT_TRUE(param.getPerMember());
    EXPECT_EQ(ensemble->weights[param.getSymName()].size(), 5u);
  }
  // The last member stores its scalars as initializers, so they are weights too.
  EXPECT_EQ(countOps(*ensemble->module, "tutti.constant"), 0u);
}

TEST_F(AlignTest, OneFileTwiceSharesAll) {
  std::string file = membersOf("drift-relu")[0];
  llvm::Expected<Ensemble> ensemble = align(context, {file, file}, {}, {});
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  for (ParamOp param : ensemble->module->getOps<ParamOp>())
    EXPECT_FALSE(param.getPerMember());
}

TEST_F(AlignTest, OneMemberSharesNothing) {
  llvm::Expected<Ensemble> ensemble = align(context, {membersOf("drift-relu")[0]}, {}, {});
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  for (ParamOp param : ensemble->module->getOps<ParamOp>())
    EXPECT_TRUE(param.getPerMember());
}

TEST_F(AlignTest, DiffersInLayer) {
  Failure failure = failureOf(alignSet("differs-layer"));
  EXPECT_EQ(failure.code, 4);
  for (const char *part : {"member 2", "member 0", "node 'node_linear_2' (Gemm)", "(32, 32)", "(32, 5)"})
    EXPECT_NE(failure.message.find(part), std::string::npos) << failure.message;
}

TEST_F(AlignTest, DiffersInOutput) {
  Failure failure = failureOf(alignSet("differs-output"));
  EXPECT_EQ(failure.code, 4);
  for (const char *part : {"member 2", "output 'y'", "(batch, 6)", "(batch, 5)"})
    EXPECT_NE(failure.message.find(part), std::string::npos) << failure.message;
}

TEST_F(AlignTest, ListsOfNumbersAreTheMembersOwn) {
  // Each chooses other columns, as members on features of their own do.
  std::string files[] = {input("own-places~0.onnx"), input("own-places~1.onnx")};
  llvm::Expected<Ensemble> ensemble = align(context, files, {}, {});
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  EXPECT_TRUE(succeeded(verify(*ensemble->module)));
  ASSERT_EQ(ensemble->weights.size(), 1u);
  EXPECT_EQ(ensemble->weights.begin()->second.size(), 2u);
  HostTensor x = HostTensor::zeros(Float32Type::get(&context), {1, 8});
  std::iota(x.floats.begin(), x.floats.end(), 0);
  EXPECT_EQ(evaluate(*ensemble, 0, {{"x", x}})["y"].floats, (std::vector<double>{5, 2, 7, 1}));
  EXPECT_EQ(evaluate(*ensemble, 1, {{"x", x}})["y"].floats, (std::vector<double>{0, 3, 6, 2}));
}

TEST_F(AlignTest, ListsOfNumbersMayBeEvenlyApart) {
  // Alone, the columns of the first are a slice.
  std::string even = input("own-places-evenly-apart.onnx"), uneven = input("own-places~0.onnx");
  HostTensor x = HostTensor::zeros(Float32Type::get(&context), {1, 8});
  std::iota(x.floats.begin(), x.floats.end(), 0);
  for (bool first : {true, false}) {
    std::string files[] = {first ? even : uneven, first ? uneven : even};
    llvm::Expected<Ensemble> ensemble = align(context, files, {}, {});
    ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
    EXPECT_TRUE(succeeded(verify(*ensemble->module)));
    EXPECT_EQ(evaluate(*ensemble, !first, {{"x", x}})["y"].floats, (std::vector<double>{1, 3, 5, 7}));
    EXPECT_EQ(evaluate(*ensemble, first, {{"x", x}})["y"].floats, (std::vector<double>{5, 2, 7, 1}));
  }
}

TEST_F(AlignTest, FactorsOfNodesMayBeOne) {
  // Alone, the first has no product.
  std::string files[] = {input("own-factor~1.onnx"), input("own-factor~1.5.onnx")};
  llvm::Expected<Ensemble> ensemble = align(context, files, {}, {});
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  HostTensor x = HostTensor::zeros(Float32Type::get(&context), {1, 8});
  std::iota(x.floats.begin(), x.floats.end(), 0);
  EXPECT_EQ(evaluate(*ensemble, 0, {{"x", x}})["y"].floats, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(evaluate(*ensemble, 1, {{"x", x}})["y"].floats, (std::vector<double>{0, 1.5, 3, 4.5, 6, 7.5, 9, 10.5}));
}

TEST_F(AlignTest, DimsAreBound) {
  std::vector<std::string> files = membersOf("drift-relu");
  ImportOptions options;
  options.dims["batch"] = {16, 16};
  llvm::Expected<Ensemble> fixed = align(context, files, options, {});
  ASSERT_TRUE(bool(fixed)) << llvm::toString(fixed.takeError());
  EXPECT_EQ(mainOf(*fixed->module).getArgumentTypes()[0], RankedTensorType::get({16, 12}, Float32Type::get(&context)));
  EXPECT_TRUE(getSizeRanges(*fixed->module).empty());

  options.dims["batch"] = {1, 20000};
  llvm::Expected<Ensemble> range = align(context, files, options, {});
  ASSERT_TRUE(bool(range)) << llvm::toString(range.takeError());
  EXPECT_NE(str(*range->module).find("batch = array<i64: 1, 20000>"), std::string::npos);

  options.dims.clear();
  options.dims["rows"] = {1, 2};
  Failure failure = failureOf(align(context, files, options, {}));
  EXPECT_EQ(failure.code, 2);
  EXPECT_NE(failure.message.find("batch"), std::string::npos) << failure.message;
}

TEST_F(AlignTest, NoFiles) { EXPECT_EQ(failureOf(align(context, {}, {}, {})).code, 2); }

TEST_F(AlignTest, ManyMembersLeaveNoMemory) {
  std::vector<std::string> files;
  std::vector<std::string> five = membersOf("drift-norm");
  for (int i = 0; i < 300; ++i)
    files.push_back(five[i % 5]);
  llvm::Expected<Ensemble> ensemble = align(context, files, {}, {});
  ASSERT_TRUE(bool(ensemble)) << llvm::toString(ensemble.takeError());
  EXPECT_EQ(ensemble->members.size(), 300u);
  EXPECT_EQ(ensemble->weights["p0"].size(), 300u);
}

} // namespace
} // namespace tutti::test
