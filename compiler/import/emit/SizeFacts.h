// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts known about sizes while a member is imported, and which of them must be equal.
#ifndef TUTTI_COMPILER_IMPORT_EMIT_SIZEFACTS_H
#define TUTTI_COMPILER_IMPORT_EMIT_SIZEFACTS_H

#include "compiler/import/Dims.h"
#include "compiler/import/emit/Problems.h"
#include "dialects/tutti/Module.h"

namespace tutti {

class SizeFacts : public Problems {
public:
  /// `dims` null: no two sizes may be made equal.
  explicit SizeFacts(Dims *dims) : dims(dims) {}

  /// Whether two sizes that the current op requires to be equal are equal. If they are not but can be made so, it makes
  /// them equal and requests a restart.
  bool same(const Size &a, const Size &b);
  /// The same for two shapes that do not broadcast as they are, for all axes that must be equal. Returns a pair of
  /// sizes that cannot be equal; nothing if there is none, or if it requested a restart.
  using SizePair = std::pair<Size, Size>;
  std::optional<SizePair> meet(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);

  /// Reports sizes that are not `same`, of `what` ("shapes (2) and (3)", with the verb "broadcast"): they fit for no
  /// call, or only for some. No problem if the import restarts.
  Operand misfit(const Size &a, const Size &b, const llvm::Twine &what, const llvm::Twine &verb);

  /// Whether a size is more than 1 at every call.
  bool isAboveOne(const Size &size) const;
  /// The largest value of a size in any call; nothing if one of its symbols has no range.
  std::optional<int64_t> mostOf(const Size &size) const;
  /// The ranges of the symbols of sizes.
  llvm::SmallVector<SizeRange> ranges;

private:
  Dims *dims;
};

} // namespace tutti

#endif
