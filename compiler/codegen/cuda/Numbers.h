// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marks around the numbers in a kernel's text, so that pieces of text that differ in numbers alone can become one.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_NUMBERS_H
#define TUTTI_COMPILER_CODEGEN_CUDA_NUMBERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tutti {

/// A number (a size, a distance, a place) that may become a variable if several pieces of text differ in it. Not for
/// template arguments, which have to be constants, nor for divisors, which should be. The number stands between two
/// marks until Kernel.cpp has put the translation unit together.
std::string numberText(int64_t number);
/// The same for other text that may differ, such as the name of a view.
std::string marked(llvm::StringRef text);
/// The text with its numbers as constants.
std::string withoutMarks(std::string text);

/// A text cut at its marks: text, number, text, ... text.
struct Numbered {
  std::vector<std::string> between, numbers;

  explicit Numbered(llvm::StringRef text);
  /// Whether both are the same but for numbers.
  bool isLike(const Numbered &other) const { return between == other.between; }
  bool operator==(const Numbered &) const = default;
};

/// One text for texts that are alike. In each place `chosen` turns the texts' numbers into an expression.
std::string oneText(llvm::ArrayRef<Numbered> texts,
                    llvm::function_ref<std::string(llvm::ArrayRef<std::string>)> chosen);

} // namespace tutti

#endif
