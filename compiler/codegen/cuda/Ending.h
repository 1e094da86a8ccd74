// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows a contraction's sums, as text.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_ENDING_H
#define TUTTI_COMPILER_CODEGEN_CUDA_ENDING_H

#include "Text.h"

namespace tutti {

/// `columns` reads what all rows share of a column, `store` computes what is stored of the sums, and stores it.
struct Ending {
  int64_t K, N, panels, length; ///< of the weight, and operations of what is made of a sum
  /// `make0` and so on, and `store`: with "@0" and so on for the views that it stores to, "#0" for their rows'
  /// distances.
  std::string code;
  bool isOfStep = false; ///< `t` in it is the struct of a step (Common.h)
  /// What `columns` reads: an element of a view, or without one an expression.
  struct Read {
    std::string view, index;
    bool isFound() const { return llvm::StringRef(view).ends_with("()"); } ///< looked up (KernelText::viewOfPass)
    std::string text() const { return view.empty() ? index : view + "[" + index + "]"; }
  };
  std::vector<Read> values;
  std::vector<std::string> types; ///< of the values
  struct Target {
    mlir::Value value;
    std::string view, type, element;
    int64_t offset = -1, stride = 0; ///< in shared memory: bytes before it, and elements from row to row
    bool hasAllRows = false;         ///< there, of rows past the last, too
    bool isNarrow = false;           ///< of 16 bits
  };
  std::vector<Target> targets;

  /// Of what it hands over to a block, for each row, as text; empty: nothing.
  std::string handedBytes;
  bool handsOver() const { return !handedBytes.empty(); }

  Ending(KernelText &k, const Step &step, bool handsOver = false) : Ending(k, k, step, handsOver) {}
  /// Its code in a scope of its own.
  Ending(KernelText &k, KernelText &scope, const Step &step, bool handsOver);
  /// The same code, but for what it reads and where it stores.
  bool isLike(const Ending &other) const {
    auto sameType = [](const Target &a, const Target &b) { return a.type == b.type; };
    return types == other.types && code == other.code && llvm::equal(targets, other.targets, sameType);
  }
  /// Their values may have the same names.
  bool goesWith(const Ending &other) const {
    size_t both = std::min(types.size(), other.types.size());
    return llvm::ArrayRef(types).take_front(both) == llvm::ArrayRef(other.types).take_front(both);
  }
};

/// What follows the sums of layers first, first + 1 and so on of a tile of `rows`: one `columns` for all, where they
/// differ asking for n, the layer; and for those that are alike, wherever they are, a `store` each, with `call` behind
/// it.
struct EndingText {
  std::string columns, store;
  std::string touch; ///< asks for what `columns` reads
  /// If that is one float of a vector [N]: these vectors, of each layer.
  std::vector<std::string> vectors;
};
EndingText endingText(size_t first, llvm::ArrayRef<Ending> endings, int64_t rows, llvm::StringRef call);

/// Numbers of layers, in their order.
using LayerNumbers = llvm::SmallVector<size_t>;
LayerNumbers layersFrom(size_t first, size_t count);
/// Those of `layers` that are so, and the others.
std::pair<LayerNumbers, LayerNumbers> parted(llvm::ArrayRef<size_t> layers, llvm::function_ref<bool(size_t)> isSo);

/// A condition on n that `some` of the layers `all` meet, and none of the others; empty where it is all of them.
std::string conditionOf(llvm::ArrayRef<size_t> some, llvm::ArrayRef<size_t> all);

/// n == 0 ? a : n == 1 ? b : c, of a value for each of these layers; or a, if all are.
std::string chosenOf(llvm::ArrayRef<size_t> layers, llvm::ArrayRef<std::string> values);

/// The view that these layers store to: in shared memory by its place, as what is known of a view is not of one that is
/// chosen.
std::string chosenView(llvm::ArrayRef<size_t> layers, llvm::ArrayRef<Ending::Target> targets, int64_t rows);

/// The text, two spaces further in.
std::string indented(llvm::StringRef text);

} // namespace tutti

#endif
