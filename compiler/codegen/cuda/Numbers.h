// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in a kernel's text that are apart from it: where pieces of text differ in these alone, one is enough.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_NUMBERS_H
#define TUTTI_COMPILER_CODEGEN_CUDA_NUMBERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tutti {

/// A number that pieces which are alike but for it may be told instead of having it as a constant: a size, a distance,
/// a place. No argument of a template can be, and no divisor should, which would be slow. It stands between two marks
/// until Kernel.cpp has put the translation unit together.
std::string numberText(int64_t number);
/// The same of a piece of text, the name of a view for one.
std::string marked(llvm::StringRef text);
/// The text with its numbers as constants.
std::string withoutMarks(std::string text);

/// A text taken apart at its marks: text, number, text, ... text.
struct Numbered {
  std::vector<std::string> between, numbers;

  explicit Numbered(llvm::StringRef text);
  /// The same, but for numbers.
  bool isLike(const Numbered &other) const { return between == other.between; }
  bool operator==(const Numbered &) const = default;
};

/// The one text of texts that are like each other, with what `chosen` makes of their numbers in each place.
std::string oneText(llvm::ArrayRef<Numbered> texts,
                    llvm::function_ref<std::string(llvm::ArrayRef<std::string>)> chosen);

} // namespace tutti

#endif
