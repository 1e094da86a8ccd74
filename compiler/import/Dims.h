// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The symbolic dimensions of a model: their names, their bindings, and which of them are equal.
#ifndef TUTTI_COMPILER_IMPORT_DIMS_H
#define TUTTI_COMPILER_IMPORT_DIMS_H

#include "compiler/import/Model.h"
#include "dialects/tutti/Sizes.h"

namespace tutti {

/// The dimensions, filled while member 0 is imported; its names hold for all members.
class Dims {
public:
  explicit Dims(const ImportOptions &options) : options(options) {}

  /// Declares a symbol found at `axis` of `input`, as the file writes it; returns the size that represents it now.
  Size declare(llvm::StringRef written, llvm::StringRef input, int64_t axis);
  size_t count() const { return symbols.size(); }
  /// Makes two sizes equal, as an op demands. True: they were made equal, and the import has to start again. False:
  /// they cannot be equal.
  bool equate(const Size &a, const Size &b);
  /// Checks that every bound name exists, that the bindings of names made one agree, that no two dimensions which the
  /// file tells apart have one name here, and that every symbol has a binding or is the batch; else exit code `usage`.
  llvm::Error check() const;
  /// The remaining symbols with their ranges, including those that are one of a list of values. `check` reports names
  /// that no symbol has.
  std::map<std::string, DimBinding> ranges() const;
  /// Whether a symbol of this size lacks a binding and is not the batch either.
  bool lacksBinding() const;

private:
  struct Symbol {
    std::string name, written, input;
    int64_t axis;
    std::string parent;            ///< another symbol that this one equals; empty for a representative
    std::optional<int64_t> forced; ///< the value that an op demands of it
    /// Whether `called` is its name, or its spelling in the file.
    bool isCalled(llvm::StringRef called) const;
  };
  /// The first symbol that is called so, or nullptr.
  const Symbol *find(llvm::StringRef name) const;
  /// The representative of all symbols that equal this one, which must exist.
  const Symbol &root(llvm::StringRef name) const;
  std::optional<DimBinding> bindingOf(const Symbol &symbol) const;
  /// Representatives without a value.
  llvm::SmallVector<const Symbol *> open() const;

  const ImportOptions &options;
  std::vector<Symbol> symbols;
  std::string clash; ///< the message about two dimensions of one name; empty: there are none
};

/// The name by which a dimension is known: the file's, or INPUT.AXIS.
std::string dimName(llvm::StringRef written, llvm::StringRef input, int64_t axis);

} // namespace tutti

#endif
