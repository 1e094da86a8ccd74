// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction's ending: the text that computes values from the contraction's sums and stores them.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_ENDING_H
#define TUTTI_COMPILER_CODEGEN_CUDA_ENDING_H

#include "Text.h"

namespace tutti {

/// The ending of one contraction. In the text, `columns` reads what all rows of a column share, such as biases; `store`
/// computes the values to be stored from the sums, and stores them.
struct Ending {
  int64_t K, N, panels, length; ///< the weight's sizes, and how many operations a sum goes through
  /// The functions `make0`, `make1` ... and `store`. `to0` is the view that value 0 is stored to; in shared memory its
  /// rows are `stride0` elements apart.
  std::string code;
  bool isOfStep = false; ///< whether `t` in the code is the struct of a step (Common.h)
  /// What `columns` reads: an element of a view, or without a view an expression.
  struct Read {
    std::string view, index;
    bool isFound = false; ///< whether the view is looked up in each pass (KernelText::isFoundInPass)
    std::string text() const { return view.empty() ? index : view + "[" + index + "]"; }
  };
  std::vector<Read> values;
  std::vector<std::string> types; ///< the types of `values`
  /// A value that is stored, and the view that it is stored to.
  struct Target {
    mlir::Value value;
    std::string view, type, element;
    int64_t offset = -1, stride = 0; ///< of shared memory: where it begins in bytes, and elements from row to row
    bool hasAllRows = false;         ///< of shared memory: rows behind the call's last one are stored, too
    bool isNarrow = false;           ///< of shared memory: elements have 16 bits
    bool isShared() const { return offset >= 0; }
  };
  std::vector<Target> targets;

  /// The bytes that a block of a cluster receives for each row, as text; empty: nothing is handed over.
  std::string handedBytes;
  bool handsOver() const { return !handedBytes.empty(); }
  /// Whether other blocks of a cluster receive the stored values, by a handover or by a plain store.
  bool givesAll = false;

  Ending(KernelText &k, const Step &step, bool handsOver = false) : Ending(k, k, step, handsOver) {}
  /// The same with the code in a scope of its own.
  Ending(KernelText &k, KernelText &scope, const Step &step, bool handsOver);
  /// Whether the code is the same but for the values it reads and the places it stores to.
  bool isLike(const Ending &other) const {
    auto sameType = [](const Target &a, const Target &b) { return a.type == b.type; };
    return types == other.types && code == other.code && llvm::equal(targets, other.targets, sameType);
  }
  /// Whether the values of both endings can share names: the types of the common ones are equal.
  bool goesWith(const Ending &other) const {
    size_t both = std::min(types.size(), other.types.size());
    return llvm::ArrayRef(types).take_front(both) == llvm::ArrayRef(other.types).take_front(both);
  }
};

/// The endings of the layers first, first + 1 ... of a tile of `rows` rows, as one text. It has one function `columns`,
/// which chooses by n, the layer's number, where layers differ. Layers whose code is alike share one `store`, which
/// `call` follows.
struct EndingText {
  std::string columns, store;
  std::string touch; ///< the function that prefetches what `columns` reads
  /// If `columns` reads one float of a vector [N] and nothing else: each layer's vector.
  std::vector<std::string> vectors;
};
EndingText endingText(size_t first, llvm::ArrayRef<Ending> endings, int64_t rows, llvm::StringRef call);

/// Layers by their numbers, in ascending order.
using LayerNumbers = llvm::SmallVector<size_t>;
LayerNumbers layersFrom(size_t first, size_t count);
/// The layers for which `isSo` holds, and the others.
std::pair<LayerNumbers, LayerNumbers> parted(llvm::ArrayRef<size_t> layers, llvm::function_ref<bool(size_t)> isSo);

/// A condition on n that holds for the layers `some` and for no other one of `all`; empty if the two are the same.
std::string conditionOf(llvm::ArrayRef<size_t> some, llvm::ArrayRef<size_t> all);

/// An expression in n that gives each layer its value: n == 0 ? a : n == 1 ? b : c; or a, if all values are equal.
std::string chosenOf(llvm::ArrayRef<size_t> layers, llvm::ArrayRef<std::string> values);

/// An expression in n for the view that these layers store to. In shared memory it chooses places, not views: the
/// compiler knows less of a view that is chosen.
std::string chosenView(llvm::ArrayRef<size_t> layers, llvm::ArrayRef<Ending::Target> targets, int64_t rows);

/// The text with every line indented by two spaces; an empty text has no line.
std::string indented(llvm::StringRef text);

} // namespace tutti

#endif
