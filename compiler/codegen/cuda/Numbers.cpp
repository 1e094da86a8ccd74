// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marks around numbers, and what is made of texts that differ in these alone.
#include "Numbers.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tutti {

constexpr char mark = '\1';

std::string marked(StringRef text) { return mark + text.str() + mark; }
std::string numberText(int64_t number) { return marked(std::to_string(number)); }
std::string withoutMarks(std::string text) {
  std::erase(text, mark);
  return text;
}

Numbered::Numbered(StringRef text) {
  bool isNumber = false;
  for (StringRef piece : split(text, mark)) {
    (isNumber ? numbers : between).push_back(piece.str());
    isNumber = !isNumber;
  }
}

std::string oneText(ArrayRef<Numbered> texts, function_ref<std::string(ArrayRef<std::string>)> chosen) {
  const Numbered &first = texts.front();
  std::string all = first.between.front();
  for (size_t i = 0; i < first.numbers.size(); ++i) {
    std::vector<std::string> own;
    for (const Numbered &text : texts)
      own.push_back(text.numbers[i]);
    all += chosen(own) + first.between[i + 1];
  }
  return all;
}

} // namespace tutti
