// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every op and spelling of Inputs/: imported, evaluated by the reference, compared with what ONNX Runtime gave.
#include "Support.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/import/onnx/Importer.h"

#include "mlir/IR/Verifier.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tutti::test {
namespace {

/// Paths of Inputs/*.onnx, sorted.
std::vector<std::string> inputFiles() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(TUTTI_TEST_INPUTS, error), end; it != end && !error; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".onnx")
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

/// The tensors that a file carries for its test: `prefix` + name.
std::map<std::string, HostTensor> carried(MLIRContext &context, const std::string &path, StringRef prefix) {
  std::map<std::string, HostTensor> tensors;
  auto file = llvm::cantFail(OnnxFile::open(path));
  for (const onnx::TensorProto &tensor : file->graph().initializer()) {
    StringRef name = tensor.name();
    if (name.consume_front(prefix))
      tensors[name.str()] = toHost(llvm::cantFail(file->tensor(context, tensor)));
  }
  return tensors;
}

double at(const HostTensor &tensor, size_t i) { return tensor.isFloat() ? tensor.floats[i] : tensor.ints[i]; }

TEST(OpsTest, EveryInputGivesItsOutputs) {
  std::vector<std::string> files = inputFiles();
  ASSERT_GT(files.size(), 100u);
  for (const std::string &path : files) {
    SCOPED_TRACE(path);
    MLIRContext context;
    llvm::Expected<MemberModel> member = importOnnx(context, path, {});
    if (!member) {
      ADD_FAILURE() << llvm::toString(member.takeError());
      continue;
    }
    EXPECT_TRUE(succeeded(verify(*member->module)));
    // The cases of rounding are evaluated with it: each op's result is of its type.
    bool plain = llvm::sys::path::stem(path).starts_with("float16-");
    std::map<std::string, HostTensor> outputs = evaluate(*member, carried(context, path, "in:"), plain);
    for (auto &[name, expected] : carried(context, path, "out:")) {
      const HostTensor &given = outputs[name];
      ASSERT_EQ(given.dims, expected.dims);
      EXPECT_EQ(given.element, expected.element);
      // ONNX Runtime rounds 16-bit types at every op, the reference at none.
      double unit = given.isFloat() && given.element.getIntOrFloatBitWidth() < 32 ? 2e-3 : 1e-5;
      for (int64_t i = 0; i < given.count(); ++i)
        // Infinities are no distance apart, nor is NaN from itself.
        if (at(given, i) != at(expected, i) && !(std::isnan(at(given, i)) && std::isnan(at(expected, i))))
          ASSERT_NEAR(at(given, i), at(expected, i), unit * (1 + std::abs(at(expected, i)))) << name << " " << i;
    }
  }
}

TEST(OpsTest, SpellingsOfOneComputationAlign) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string &path : inputFiles()) {
    StringRef stem = llvm::sys::path::stem(path);
    if (stem.contains('~'))
      groups[stem.split('~').first.str()].push_back(path);
  }
  ASSERT_GT(groups.size(), 10u);
  for (auto &[name, files] : groups) {
    SCOPED_TRACE(name);
    EXPECT_GT(files.size(), 1u);
    MLIRContext context;
    llvm::Expected<Ensemble> ensemble = align(context, files, {}, {});
    if (!ensemble)
      ADD_FAILURE() << llvm::toString(ensemble.takeError());
  }
}

TEST(OpsTest, NothingIsLeftOfWhatMovesNothing) {
  MLIRContext context;
  auto text = [&](StringRef name) {
    llvm::Expected<MemberModel> member = importOnnx(context, input((name + ".onnx").str()), {});
    return member ? str(*member->module) : llvm::toString(member.takeError());
  };
  EXPECT_EQ(text("transpose-twice").find("tutti.transpose"), std::string::npos);
  EXPECT_EQ(text("reduce-noop").find("tutti.reduce"), std::string::npos);
  EXPECT_EQ(text("dropout-13").find("tutti.select"), std::string::npos) << "a mask of all true chooses one branch";
  EXPECT_EQ(text("expand").find("tutti.broadcast"), std::string::npos);
  EXPECT_EQ(text("constant-folding").find("tutti.sqrt"), std::string::npos);
  EXPECT_EQ(text("dead-unsupported").find("error"), std::string::npos);
}

} // namespace
} // namespace tutti::test
