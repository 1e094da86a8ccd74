// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models as text, compiled to artifacts and run through the C interface, for the laws that speak of compiled code.
#ifndef TUTTI_TEST_LAWS_COMPILED_H
#define TUTTI_TEST_LAWS_COMPILED_H

#include "Instances.h"

#include "llvm/Support/Error.h"
#include "tutti/tutti.h"

#include <map>
#include <memory>

namespace tutti::laws {

/// An ensemble at the stage `model`.
struct Model {
  std::string text; ///< the module's ops: the params without `per_member`, and @main with `tutti.per_member` where wanted
  std::map<std::string, std::vector<HostTensor>> params; ///< by symbol: one for all members, or one each
  int64_t members = 1;
  std::vector<std::string> levels = {"x86-64-v3"};
  bool ownInputs = false; ///< every input has the member axis
};

/// What differs from call to call.
struct Call {
  std::vector<uint32_t> active; ///< empty: all
  uint32_t threads = 1;
  std::string level = "x86-64-v3";
  int64_t batch = 0; ///< the size, where no input has it
};

class Artifact {
public:
  static llvm::Expected<std::unique_ptr<Artifact>> compile(const Model &model);
  ~Artifact();

  /// The results of @main in their order. Inputs are named x0, x1 ... and outputs y0, y1 ... by their places.
  llvm::Expected<std::vector<HostTensor>> run(llvm::ArrayRef<HostTensor> inputs, const Call &call = {}) const;

private:
  tutti_artifact_t *handle = nullptr;
};

/// Null and a failed test if the text does not parse.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(const std::string &text);

/// The members chosen from a lifted tensor.
HostTensor choose(const HostTensor &lifted, llvm::ArrayRef<uint32_t> members);
/// The elements `places` along an axis.
HostTensor take(const HostTensor &tensor, int64_t axis, llvm::ArrayRef<int64_t> places);

} // namespace tutti::laws

#endif
