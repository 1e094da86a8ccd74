// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers whose texts differ only in numbers get one text, which chooses the numbers by the layer.
#include "Common.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// The fewest texts that become one: two separate texts are no longer than one that chooses.
constexpr size_t fewestTexts = 3;

/// An expression in n for numbers that grow by a constant step from layer to layer, if the layers are evenly spaced,
/// too.
static std::optional<std::string> progression(ArrayRef<size_t> layers, ArrayRef<int64_t> numbers) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max(); // n is an int, and so is what is computed of it
  if (llvm::any_of(numbers, [&](int64_t number) { return std::abs(number) > most; }))
    return std::nullopt;
  int64_t apart = int64_t(layers[1] - layers[0]), step = numbers[1] - numbers[0], first = int64_t(layers[0]);
  for (size_t i = 1; i < layers.size(); ++i)
    if (int64_t(layers[i] - layers[i - 1]) != apart || numbers[i] - numbers[i - 1] != step)
      return std::nullopt;
  bool divides = step % apart == 0; // else each of these layers is its own multiple of `apart`, and what is left over
  int64_t factor = divides ? step / apart : step, begin = numbers[0] - factor * (divides ? first : first / apart);
  if (std::abs(factor) * int64_t(layers.back()) + std::abs(begin) > most)
    return std::nullopt;
  std::string count = divides ? "n" : formatv("(n / {0})", apart).str(),
              steps = std::abs(factor) == 1 ? count : numberText(std::abs(factor)) + " * " + count;
  if (begin == 0 && factor > 0)
    return "(" + steps + ")";
  return factor > 0 ? formatv("({0} + {1})", steps, numberText(begin)).str()
                    : formatv("({0} - {1})", numberText(begin), steps).str();
}

/// The expression for one place in the text, at which these layers have the texts `own`; numbers that form a
/// progression are computed.
static std::string chosenByLayer(ArrayRef<size_t> layers, ArrayRef<std::string> own) {
  std::vector<int64_t> numbers;
  for (StringRef text : own)
    if (int64_t number; llvm::to_integer(text, number, 10))
      numbers.push_back(number);
  if (numbers.size() < own.size()) // views
    return llvm::all_equal(own) ? own.front() : "known(" + chosenOf(layers, own) + ")";
  if (llvm::all_equal(numbers))
    return numberText(numbers.front());
  if (std::optional<std::string> computed = progression(layers, numbers))
    return *computed;
  return "(" + chosenOf(layers, llvm::map_to_vector(numbers, numberText)) + ")";
}

namespace {

/// Texts of some layers that differ only in numbers.
struct Alike {
  LayerNumbers places; ///< in what was given
  std::vector<Numbered> structs, texts;

  size_t unlike() const {
    std::set<std::pair<std::vector<std::string>, std::vector<std::string>>> all;
    for (const auto &[own, text] : llvm::zip_equal(structs, texts))
      all.insert({own.numbers, text.numbers});
    return all.size();
  }
};

} // namespace

std::vector<std::string> commonTexts(KernelText &k, ArrayRef<size_t> layers, ArrayRef<ScopedText> texts,
                                     bool sameAreOne) {
  std::vector<Alike> all;
  for (auto [place, each] : llvm::enumerate(texts)) {
    Numbered own(each.scope->structText("Step")), text(each.text);
    auto known = llvm::find_if(
        all, [&](const Alike &alike) { return alike.structs.front().isLike(own) && alike.texts.front().isLike(text); });
    if (known == all.end())
      known = all.insert(known, Alike());
    known->places.push_back(place);
    known->structs.push_back(std::move(own));
    known->texts.push_back(std::move(text));
  }
  std::vector<std::string> common(texts.size());
  for (const Alike &alike : all) {
    if ((sameAreOne ? alike.unlike() : alike.places.size()) < fewestTexts)
      continue;
    LayerNumbers own = llvm::map_to_vector(alike.places, [&](size_t place) { return layers[place]; });
    auto chosen = [&](ArrayRef<std::string> numbers) { return chosenByLayer(own, numbers); };
    std::string name = "Step" + std::to_string(k.stepStructs.size());
    std::vector<Numbered> structs;
    for (size_t place : alike.places)
      structs.emplace_back(texts[place].scope->structText(name));
    k.stepStructs.push_back(oneText(structs, chosen));
    std::string text =
        formatv("  const Task &task = t;\n  const {0} t(task, n);\n", name).str() + oneText(alike.texts, chosen);
    for (size_t place : alike.places)
      common[place] = text;
  }
  return common;
}

} // namespace tutti
