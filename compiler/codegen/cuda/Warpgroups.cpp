// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of warpgroups as text (device/warpgroup.cuh).
#include "Layers.h"
#include "passes/analysis/Numerics.h"

#include "runtime/schema/Layout.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <numeric>
#include <set>

using namespace mlir;
using llvm::formatv;

namespace tutti {

std::string emitWideProducts(KernelText &k) {
  // For each width of a warpgroup's instruction, the tiles of the panels; and the widths of layers whose rows lie in
  // one kind of place (RowsKind of device/tensor.cuh). Each pair is a loop over stages.
  std::map<int64_t, std::vector<int64_t>> widths;
  std::map<Lefts, std::set<int64_t>> widthsOf;
  StringRef type;
  bool chunks = false, hasRest = false; // of chunks warpgroups multiply whole panels alone (device/wide.cuh)
  for (const Contraction &c : tensorContractions(k.steps)) {
    type = c.product == NumericsProduct::bf16 ? "bf16" : "f16";
    chunks = c.product == NumericsProduct::tf32x3;
    std::vector<rt::FragmentPanel> all = rt::planFragments(c.layout(), c.K, c.N);
    for (ArrayRef<rt::FragmentPanel> rest = all; !rest.empty();) {
      ArrayRef<rt::FragmentPanel> pass = rest.take_front(k.geometry.warps.panels);
      std::vector<int64_t> tiles;
      for (const rt::FragmentPanel &panel : pass)
        tiles.push_back(panel.tiles);
      if (chunks) {
        std::vector<int64_t> whole(k.geometry.warps.panels, 4);
        hasRest |= tiles != whole;
        tiles = std::move(whole);
      }
      Lefts kind = kindOfRows(k, c);
      int64_t width = std::accumulate(tiles.begin(), tiles.end(), int64_t(0));
      widthsOf[kind == Lefts::ofInput ? Lefts::floats : kind].insert(width);
      widths[width] = std::move(tiles);
      rest = rest.drop_front(pass.size());
    }
  }
  auto registers = [](int64_t from, int64_t to) {
    std::vector<std::string> names;
    for (int64_t i = from; i < to; ++i)
      names.push_back("%" + std::to_string(i));
    return llvm::join(names, ", ");
  };
  std::string lists, products;
  for (const auto &[kind, own] : widthsOf) {
    auto texts = llvm::map_range(own, [](int64_t width) { return std::to_string(width); });
    lists += formatv("  static Numbers<{0}> widthsOf(RowsKind<{1}>);\n", llvm::join(texts, ", "), textOf(kind));
  }
  for (const auto &[width, panels] : widths) {
    std::vector<std::string> sums;
    for (auto [panel, tiles] : llvm::enumerate(panels))
      for (int64_t tile = 0; tile < tiles; ++tile)
        sums.push_back(formatv("TUTTI_TILE({0}, {1})", panel, tile));
    std::string operands = formatv("\"{0}\", \"{1}\", \"{2}\"", registers(0, width * 4),
                                   registers(width * 4, width * 4 + 4), registers(width * 4 + 4, width * 4 + 5));
    if (chunks)
      operands += formatv(", \"{0}\"", registers(width * 4 + 5, width * 4 + 6));
    else
      operands = formatv("\"{0}\", {1}", type, operands);
    products += formatv("  TUTTI_WARPGROUP_{0}({1}, {2}, {3},\n    {4})\n", chunks ? "CHUNK" : "PRODUCT", width,
                        width * 8, operands, llvm::join(sums, ", "))
                    .str();
  }
  std::string rest = chunks ? formatv("  static constexpr bool hasRest = {0};\n", hasRest).str() : "";
  return formatv("struct WideProducts {{\n{0}{1}{2}};\n\n", lists, rest, products);
}

} // namespace tutti
