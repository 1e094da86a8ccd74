// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents of sizes, of tiles and of grids.
#include "Extents.h"
#include "compiler/codegen/cuda/Kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tutti {

std::unique_ptr<fb::ExtentT> Extents::of(const Size &size) const {
  auto extent = std::make_unique<fb::ExtentT>();
  add(*extent, size);
  return extent;
}

void Extents::add(fb::ExtentT &extent, const Size &size) const {
  if (size.isFixed()) {
    extent.base += size.getFixed();
    return;
  }
  auto term = std::make_unique<fb::TermT>();
  term->coef = size.getFactor();
  for (const std::string &symbol : size.getSymbols())
    term->sizes.push_back(indexOf(symbol));
  extent.terms.push_back(std::move(term));
}

// The size is factor * a * b ...: one symbol becomes a ceil_div, the one that can be largest, whose rounding adds
// least.
std::unique_ptr<fb::ExtentT> Extents::tiles(const Size &rows, int64_t tile) const {
  int64_t factor = rows.getFactor();
  if (rows.isFixed())
    return of(Size(llvm::divideCeil(factor, tile)));
  auto result = of(rows);
  fb::TermT &term = *result->terms.front();
  term.coef = llvm::divideCeil(factor, tile);
  term.divs.assign(term.sizes.size(), 1);
  plan::ProgramOp known = program;
  size_t largest = 0;
  for (auto [i, symbol] : llvm::enumerate(rows.getSymbols()))
    if (*known.mostOf(symbol) > *known.mostOf(rows.getSymbols()[largest]))
      largest = i;
  term.divs[largest] = std::max<int64_t>(1, tile / factor);
  return result;
}

void Extents::multiply(fb::ExtentT &extent, StringRef symbol) const {
  if (extent.base) {
    extent.terms.push_back(std::make_unique<fb::TermT>());
    extent.terms.back()->coef = std::exchange(extent.base, 0);
  }
  for (auto &term : extent.terms) {
    term->sizes.push_back(indexOf(symbol));
    if (!term->divs.empty())
      term->divs.push_back(1);
  }
}

Extents::Grid Extents::gridOf(ArrayRef<plan::LaunchOp> parts, const CudaLaunch &how) const {
  Grid grid;
  grid.block = {uint32_t(how.threads), 1, 1};
  grid.shared = of(Size(how.sharedBytes));
  std::unique_ptr<fb::ExtentT> x, y = of(Size(1)), z = of(Size(1));
  if (parts.size() == 1) {
    // The position in the active set is y, extended by z where y does not suffice (codegen/cuda/Kernel.h).
    plan::KernelOp kernel = plan::LaunchOp(parts.front()).lookupKernel();
    x = tiles(*kernel.rowCount(), how.rows.front());
    if (kernel.getLifted()) {
      Size members = Size::symbol(kernel.membersSize());
      bool fits = *plan::ProgramOp(program).mostOf(kernel.membersSize()) <= mostPlaneMembers;
      y = of(fits ? members : Size(membersInPlane));
      if (!fits)
        z = tiles(members, membersInPlane);
    }
  } else {
    // One block per tile and member, for one part after the other (device/tasks.cuh).
    x = std::make_unique<fb::ExtentT>();
    for (auto [each, rows] : llvm::zip_equal(parts, how.rows)) {
      plan::KernelOp kernel = plan::LaunchOp(each).lookupKernel();
      std::unique_ptr<fb::ExtentT> own = tiles(*kernel.rowCount(), rows);
      if (kernel.getLifted())
        multiply(*own, kernel.membersSize());
      x->base += own->base;
      llvm::move(own->terms, std::back_inserter(x->terms));
    }
  }
  if (how.cluster > 1) { // blocks along x share a tile
    grid.cluster = {uint32_t(how.cluster), 1, 1};
    for (auto &term : x->terms)
      term->coef *= how.cluster;
    x->base *= how.cluster;
  }
  for (auto *extent : {&x, &y, &z})
    grid.blocks.push_back(std::move(*extent));
  return grid;
}

} // namespace tutti
