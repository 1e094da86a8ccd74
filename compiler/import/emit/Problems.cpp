// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages about a node.
#include "compiler/import/emit/Problems.h"

using namespace mlir;

namespace tutti {

Operand Problems::unsupported(const Twine &reason, const Twine &advice) {
  if (!problem && !restart)
    problem = Problem{ExitCode::unsupported, reason.str(), advice.str()};
  return Operand();
}

Operand Problems::unknownLength(const Twine &does, const Size &length) {
  if (length.isFixed())
    return unsupported(does + " a length of " + Twine(length.getFixed()));
  return unsupported(does + " dimension " + quote(length.str()) + ", which is known at a call only", toBind(length));
}

std::string Problems::toBind(ArrayRef<Size> sizes) {
  SmallVector<std::string> names;
  for (const Size &size : sizes)
    for (const std::string &symbol : size.getSymbols())
      if (auto times = [&](const Size &each) { return llvm::count(each.getSymbols(), symbol); };
          !llvm::is_contained(names, symbol) && (sizes.size() == 1 || !llvm::all_equal(llvm::map_range(sizes, times))))
        names.push_back(symbol);
  if (names.empty())
    return "bind the dimension to one value with --dim";
  if (names.size() == 1)
    return "bind it to one value with --dim " + shown(names[0]) + "=VALUE";
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ", ") + shown(name);
  return "bind one of the dimensions " + all + " to one value with --dim";
}

Operand Problems::malformed(const Twine &reason) {
  if (!problem && !restart)
    problem = Problem{ExitCode::malformed, reason.str(), ""};
  return Operand();
}

Operand Problems::dependsOnPlace(const RowNumbers &numbers) {
  if (llvm::is_contained(numbers.sizes, Size(0)))
    return unsupported("a tensor without elements");
  const Size *along = llvm::find_if(numbers.sizes, [](const Size &size) { return !size.isFixed(); });
  std::string symbol = along == numbers.sizes.end() ? "" : along->getSymbols()[0];
  return unsupported("computes with the numbers of the rows along dimension " + quote(symbol) +
                         ", and a row's result must not depend on its place there",
                     "bind it to one value with --dim " + shown(symbol) + "=VALUE");
}

bool Problems::affords(int64_t count) {
  if (budget.spend(count))
    return true;
  unsupported("makes a constant of " + Twine(count) + " elements", "make it an initializer");
  return false;
}

} // namespace tutti
