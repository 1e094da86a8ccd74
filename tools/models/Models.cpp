// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of model files, and bound inputs.
#include "tools/models/Models.h"

#include "compiler/import/WeightSource.h"
#include "compiler/import/emit/Operand.h"
#include "compiler/import/files/MappedFile.h"
#include "compiler/support/Error.h"
#include "runtime/schema/Digest.h"
#include "tools/common/Npy.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <filesystem>
#include <fstream>

namespace tutti::tool {

/// A file, a pipe among them, as text; what is wrong with it, or nothing.
static std::string readList(const std::string &path, std::string &text) {
  constexpr size_t most = size_t(64) << 20; // of a name each a hundred thousand members
  if (std::error_code unknown; std::filesystem::is_directory(path, unknown))
    return "it is a directory";
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::strerror(errno);
  std::vector<char> some(1 << 16);
  while (file.read(some.data(), some.size()) || file.gcount() > 0)
    if (text.append(some.data(), file.gcount()); text.size() > most)
      return "it is longer than 64 MiB";
  return "";
}

std::string readModelNames(const std::vector<std::string> &given, std::vector<std::string> &names,
                           const std::string &what) {
  for (const std::string &text : given) {
    if (text.empty() || text[0] != '@') {
      names.push_back(text);
      continue;
    }
    std::string list;
    if (std::string wrong = readList(text.substr(1), list); !wrong.empty())
      return "cannot read the list of " + what + " " + quote(text.substr(1)) + ": " + wrong;
    for (llvm::StringRef line : llvm::split(list, '\n'))
      if (line = line.trim(); !line.empty())
        names.push_back(line.str());
  }
  return "";
}

/// The file's tensor as the element type that the model has for the input.
static llvm::Expected<WeightSource> readBound(const std::string &name, const std::string &file, mlir::Type element) {
  tutti_dtype_t expected = TUTTI_NONE;
  for (uint32_t d = TUTTI_BOOL; d <= TUTTI_COMPLEX128; ++d)
    if (elementName(element) == tutti_dtype_name(tutti_dtype_t(d)))
      expected = tutti_dtype_t(d);
  Tensor tensor;
  if (Failure failure = readNpy(file, expected, tensor))
    return fail(failure.code, "--bind " + shown(name) + ": " + failure.message);
  if (tensor.dtype != expected)
    return fail(ExitCode::usage, "--bind " + shown(name) + "=" + shown(file) + ": the file has " +
                                     tutti_dtype_name(tensor.dtype) + ", the input is " + elementName(element));
  auto held = std::make_shared<Tensor>(std::move(tensor));
  return asInitializer(denseView(held, held->data.data(), element, held->dims), "");
}

llvm::Error addBinds(const std::vector<std::string> &flags, ImportOptions &options) {
  for (const std::string &flag : flags) {
    auto pair = splitAtFile(flag);
    if (!pair)
      return fail(ExitCode::usage, "--bind " + quote(flag) + ": expected NAME=FILE.npy");
    const auto &[name, path] = *pair;
    auto mapped = MappedFile::open(path);
    if (!mapped)
      return llvm::handleErrors(mapped.takeError(), [&](const CompileError &error) {
        return fail(error.code, "--bind " + shown(name) + ": " + error.message);
      });
    BoundInput bound{path, rt::xxh64((*mapped)->data(), (*mapped)->size()), nullptr};
    bound.read = [name, path,
                  known = std::make_shared<WeightSource>()](mlir::Type element) -> llvm::Expected<WeightSource> {
      if (!known->data || known->element != element) {
        auto read = readBound(name, path, element);
        if (!read)
          return read.takeError();
        *known = *read;
      }
      return *known;
    };
    if (!options.binds.try_emplace(name, std::move(bound)).second)
      return fail(ExitCode::usage, "--bind " + shown(name) + " is given twice");
  }
  return llvm::Error::success();
}

} // namespace tutti::tool
