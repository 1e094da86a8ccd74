// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the import tests share: messages of errors, .npy files, and a member's evaluation by its ops' reference.
#ifndef TUTTI_TEST_IMPORT_SUPPORT_H
#define TUTTI_TEST_IMPORT_SUPPORT_H

#include "compiler/import/align/Align.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Tutti.h"

#include <gtest/gtest.h>

namespace tutti::test {

/// A file of test/models or of test/import/Inputs.
std::string model(const std::string &name);
std::string input(const std::string &name);
/// The members of a set of test/models, in order.
std::vector<std::string> membersOf(const std::string &set);

struct Failure {
  int code = 0;
  std::string message, json;
};
/// The error of an Expected; code 0 when it holds a value.
template <typename T> Failure failureOf(llvm::Expected<T> value) {
  if (value)
    return {};
  CompileError error = compileErrorOf(value.takeError());
  return {static_cast<int>(error.code), error.message, error.json};
}

/// A .npy of float32, float64, int64 or bool in C order.
HostTensor readNpy(mlir::MLIRContext &context, const std::string &path);

/// The float64 reference of `main` for the inputs, by name, or `plain`, with each result rounded to its type; `param`
/// gives one member's weights. Symbols take their
/// values from the inputs' dims.
std::map<std::string, HostTensor> evaluate(mlir::ModuleOp module, const std::map<std::string, HostTensor> &inputs,
                                           std::function<HostTensor(llvm::StringRef)> param, bool plain = false);
/// Member `m` of an ensemble.
std::map<std::string, HostTensor> evaluate(Ensemble &ensemble, size_t m,
                                           const std::map<std::string, HostTensor> &inputs);
std::map<std::string, HostTensor> evaluate(MemberModel &member, const std::map<std::string, HostTensor> &inputs,
                                           bool plain = false);

/// How many ops named `name` there are in main.
size_t countOps(mlir::ModuleOp module, llvm::StringRef name);
/// The module as text.
std::string str(mlir::ModuleOp module);

} // namespace tutti::test

#endif
