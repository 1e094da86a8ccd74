// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of sizes while a member is imported, and which of them have to be one.
#ifndef TUTTI_COMPILER_IMPORT_EMIT_SIZEFACTS_H
#define TUTTI_COMPILER_IMPORT_EMIT_SIZEFACTS_H

#include "compiler/import/Dims.h"
#include "compiler/import/emit/Problems.h"
#include "dialects/tutti/Module.h"

namespace tutti {

class SizeFacts : public Problems {
public:
  /// `dims` null: no two sizes may be made one.
  explicit SizeFacts(Dims *dims) : dims(dims) {}

  /// Two sizes that the op at hand demands, or is taken, to be one; true when they are. May ask for a restart.
  bool same(const Size &a, const Size &b);
  /// The same of two shapes that do not broadcast as they are, for all axes that have to be one: those of two sizes
  /// that cannot be; nothing where there are none, or it has asked for a restart.
  using SizePair = std::pair<Size, Size>;
  std::optional<SizePair> meet(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);

  /// What is wrong with sizes that are not `same`, of `what` ("shapes (2) and (3)", which "broadcast"): for no call, or
  /// for some. None where the import begins anew.
  Operand misfit(const Size &a, const Size &b, const llvm::Twine &what, const llvm::Twine &verb);

  /// Whether a size is more than 1 at every call.
  bool isAboveOne(const Size &size) const;
  /// The most that a size is at any call; nothing where a symbol of it has no range.
  std::optional<int64_t> mostOf(const Size &size) const;
  /// What a call may give the symbols of sizes.
  llvm::SmallVector<SizeRange> ranges;

private:
  Dims *dims;
};

} // namespace tutti

#endif
