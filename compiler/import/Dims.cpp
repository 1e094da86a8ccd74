// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbolic dimensions: names, bindings, and which of them are equal.
#include "compiler/import/Dims.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Lift.h"

#include "llvm/ADT/StringExtras.h"

namespace tutti {

/// Whether a spelling is a name: exporters write "?" or "None" for none, and sizes must not read it as a number.
static bool isName(llvm::StringRef written) {
  return !written.empty() && written != "?" && written != "None" && !llvm::isDigit(written[0]) && written[0] != '-';
}

std::string dimName(llvm::StringRef written, llvm::StringRef input, int64_t axis) {
  std::string name = isName(written) ? written.str() : input.str() + "." + std::to_string(axis);
  std::replace(name.begin(), name.end(), '*', '_');
  // Avoids the names of the ensemble's own sizes (Lift.h), and the runtime's name for its members.
  if (llvm::StringRef(name).starts_with("active."))
    name[6] = '_';
  return name == activeName || name == "members" ? name + "_" : name;
}

Size Dims::declare(llvm::StringRef written, llvm::StringRef input, int64_t axis) {
  std::string name = dimName(written, input, axis);
  auto known = llvm::find_if(symbols, [&](const Symbol &symbol) { return symbol.name == name; });
  if (known == symbols.end())
    symbols.push_back({name, written.str(), input.str(), axis, "", std::nullopt});
  else if (known->written != written && clash.empty())
    clash = "dimensions " + quote(known->written) + " of input " + quote(known->input) + " and " + quote(written) +
            " of input " + quote(input) + " are both called " + quote(name) + " here; rename one of them in the model";
  const Symbol &symbol = root(name);
  if (symbol.forced)
    return Size(*symbol.forced);
  if (std::optional<DimBinding> bound = bindingOf(symbol); bound && bound->lo == bound->hi)
    return Size(bound->lo);
  return Size::symbol(symbol.name);
}

bool Dims::Symbol::isCalled(llvm::StringRef called) const {
  return called == name || (called == written && isName(written));
}

const Dims::Symbol *Dims::find(llvm::StringRef name) const {
  auto symbol = llvm::find_if(symbols, [&](const Symbol &s) { return s.isCalled(name); });
  return symbol == symbols.end() ? nullptr : &*symbol;
}

const Dims::Symbol &Dims::root(llvm::StringRef name) const {
  auto symbol = llvm::find_if(symbols, [&](const Symbol &s) { return s.name == name; });
  return symbol->parent.empty() ? *symbol : root(symbol->parent);
}

std::optional<DimBinding> Dims::bindingOf(const Symbol &symbol) const {
  for (const Symbol &other : symbols) // few are bound, so few roots, which take longer, are looked up
    for (const auto &[name, bound] : options.dims)
      if (other.isCalled(name) && root(other.name).name == symbol.name)
        return bound;
  return std::nullopt;
}

bool Dims::equate(const Size &a, const Size &b) {
  if (a.isFixed() && !b.isFixed())
    return equate(b, a);
  auto find = [&](const Size &size) -> Symbol * {
    if (size.getSymbols().size() != 1)
      return nullptr;
    auto at = llvm::find_if(symbols, [&](const Symbol &s) { return s.name == size.getSymbols()[0]; });
    return at == symbols.end() ? nullptr : &*at;
  };
  Symbol *mine = find(a), *other = find(b);
  if (!mine)
    return false;
  if (other && mine != other && a.getFactor() == b.getFactor()) {
    if (other < mine) // the name that came first stays
      std::swap(mine, other);
    other->parent = mine->name;
    return true;
  }
  if (b.isFixed() && b.getFixed() > 0 && b.getFixed() % a.getFactor() == 0 && !bindingOf(*mine)) {
    mine->forced = b.getFixed() / a.getFactor();
    return true;
  }
  return false;
}

llvm::SmallVector<const Dims::Symbol *> Dims::open() const {
  llvm::SmallVector<const Symbol *> result;
  for (const Symbol &symbol : symbols)
    if (symbol.parent.empty() && !symbol.forced && !bindingOf(symbol))
      result.push_back(&symbol);
  return result;
}

bool Dims::lacksBinding() const {
  llvm::SmallVector<const Symbol *> left = open();
  return left.size() > 1 || (left.size() == 1 && left[0]->axis != 0);
}

llvm::Error Dims::check() const {
  auto place = [](const Symbol &symbol) {
    return "dimension " + quote(symbol.name) + " (axis " + std::to_string(symbol.axis) + " of input " +
           quote(symbol.input) + ")";
  };
  if (!clash.empty())
    return fail(ExitCode::usage, clash);
  for (const auto &[name, bound] : options.dims) {
    const Symbol *symbol = find(name);
    std::string known;
    for (const Symbol &each : symbols)
      known += (known.empty() ? "" : ", ") + shown(each.name);
    if (!symbol)
      return fail(ExitCode::usage, "there is no dimension " + quote(name) + " to bind; " +
                                       (known.empty() ? "all dimensions of the model are fixed"
                                                      : "the model's symbolic dimensions: " + known));
    if (bound.lo < 1 || bound.hi < bound.lo)
      return fail(ExitCode::usage, "dimension " + quote(name) + " cannot run from " + llvm::Twine(bound.lo) + " to " +
                                       llvm::Twine(bound.hi));
    for (const auto &[other, theirs] : options.dims)
      if (const Symbol *same = find(other);
          same && root(same->name).name == root(symbol->name).name && (theirs.lo != bound.lo || theirs.hi != bound.hi))
        return fail(ExitCode::usage, "the model makes dimensions " + quote(name) + " and " + quote(other) +
                                         " one; bind them alike, or only one of them");
    // Forced before the binding was known cannot be: a bound symbol is never forced.
  }
  if (!lacksBinding())
    return llvm::Error::success();
  std::string message;
  for (const Symbol *symbol : open())
    message += (message.empty() ? "" : "\n") + place(*symbol) + " has no size: give --dim " + shown(symbol->name) +
               "=VALUE or --dim " + shown(symbol->name) + "=LOW..HIGH";
  return fail(ExitCode::usage, message);
}

std::map<std::string, DimBinding> Dims::ranges() const {
  std::map<std::string, DimBinding> result;
  for (const Symbol &symbol : symbols)
    if (symbol.parent.empty() && !symbol.forced) {
      DimBinding bound = bindingOf(symbol).value_or(DimBinding{1, 64});
      if (bound.lo != bound.hi)
        result[symbol.name] = bound;
    }
  for (const auto &[name, bound] : options.dims)
    if (const Symbol *symbol = find(name); symbol && bound.listed)
      result[symbol->name] = bound;
  return result;
}

} // namespace tutti
