// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels are told apart by what they are but for their names, and by the order of the sizes that a launch gives them.
#include "KernelSet.h"
#include "dialects/plan/SameButForName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tutti {

KernelSet::KernelSet(ArrayRef<PlannedModule> planned) {
  llvm::StringMap<MapButForName<unsigned>> known; // by the sizes' order
  llvm::StringSet<> names;
  for (auto [m, each] : llvm::enumerate(planned)) {
    std::string sizes = llvm::join(programOf(each.module).sizeOrder(), " ");
    ofModule.emplace_back();
    for (auto kernel : ModuleOp(each.module).getOps<plan::KernelOp>()) {
      auto [place, fresh] = known[sizes].try_emplace(kernel, kernels.size());
      if (fresh) {
        std::string name = kernel.getSymName().str();
        for (unsigned i = 2; !names.insert(name).second; ++i)
          name = (kernel.getSymName() + "b" + llvm::Twine(i)).str();
        kernels.push_back({kernel, name});
      }
      ofModule.back().push_back(place->second);
    }
  }
}

} // namespace tutti
