// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binds the sizes of MLIR models.
#include "dialects/tutti/Sizes.h"
#include "compiler/import/mlir/Parts.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Module.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tutti {

/// Replaces symbols by numbers in all types.
static llvm::Error fix(ModuleOp module, StringRef path, const std::map<std::string, DimBinding> &fixed) {
  bool fits = true;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    Sizes sizes = getSizes(type);
    for (Size &size : sizes) {
      std::optional<Size> bound = Size(size.getFactor());
      for (const std::string &symbol : size.getSymbols())
        if (bound) {
          auto number = fixed.find(symbol);
          bound = bound->times(number == fixed.end() ? Size::symbol(symbol) : Size(number->second.lo));
        }
      fits = fits && bound;
      size = bound ? *bound : Size(1);
    }
    fits = fits && product(sizes);
    return getTensorType(sizes, type.getElementType());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  if (!fits)
    return fail(ExitCode::usage, quote(path) + ": bound so, a tensor has more elements than can be counted");
  DiagnosticCapture said(module.getContext());
  if (failed(mlir::verify(module)))
    return fail(ExitCode::usage, quote(path) + ": bound so, the model breaks its own rules: " + said.take());
  return llvm::Error::success();
}

llvm::Error bindSymbols(ModuleOp module, func::FuncOp main, const std::set<std::string> &symbols, StringRef path,
                        const ImportOptions &options) {
  auto wrong = [&](const Twine &what) { return fail(ExitCode::malformed, quote(path) + ": " + what); };
  std::set<std::string> ofInputs, batch;
  for (Type type : main.getArgumentTypes())
    for (auto [axis, size] : llvm::enumerate(getSizes(cast<RankedTensorType>(type))))
      if (size.getSymbols().size() == 1 && size.getFactor() == 1) {
        ofInputs.insert(size.getSymbols()[0]);
        if (axis == 0)
          batch.insert(size.getSymbols()[0]);
      }
  std::string known;
  for (const std::string &symbol : symbols)
    known += (known.empty() ? "" : ", ") + shown(symbol);
  for (const auto &[name, bound] : options.dims)
    if (!symbols.contains(name))
      return fail(ExitCode::usage, "there is no dimension " + quote(name) + " to bind; " +
                                       (known.empty() ? "all dimensions of the model are fixed"
                                                      : "the model's symbolic dimensions: " + known));
  SmallVector<SizeRange> written = getSizeRanges(module);
  std::map<std::string, DimBinding> ranges, fixed;
  std::vector<std::string> open;
  for (const std::string &symbol : symbols) {
    if (!ofInputs.contains(symbol))
      return wrong("dimension " + quote(symbol) + " is no axis of an input, so no call can decide it");
    DimBinding bound{0, 0};
    if (auto given = options.dims.find(symbol); given != options.dims.end())
      bound = given->second;
    else if (auto range = llvm::find_if(written, [&](const SizeRange &range) { return range.symbol == symbol; });
             range != written.end()) {
      if (range->least < 1 || range->most < range->least)
        return wrong(sizesName + ": " + quote(symbol) + " is no range of two numbers, 1 or more");
      bound = {range->least, range->most};
    } else {
      open.push_back(symbol);
      bound = {1, 64};
    }
    if (bound.lo != bound.hi || bound.listed)
      ranges[symbol] = bound;
    if (bound.lo == bound.hi)
      fixed[symbol] = bound;
  }
  if (open.size() > 1 || (open.size() == 1 && !batch.contains(open[0]))) {
    std::string message;
    for (const std::string &symbol : open)
      message += (message.empty() ? "" : "\n") + ("dimension " + quote(symbol) + " has no size: give --dim " +
                                                  shown(symbol) + "=VALUE or --dim " + shown(symbol) + "=LOW..HIGH");
    return fail(ExitCode::usage, message);
  }
  if (!fixed.empty())
    if (llvm::Error error = fix(module, path, fixed))
      return error;
  SmallVector<SizeRange> sizes;
  for (const auto &[name, bound] : ranges)
    sizes.push_back({name, bound.lo, bound.hi});
  setSizeRanges(module, sizes);
  return llvm::Error::success();
}

} // namespace tutti
