// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Searches for what fits: footprints grow with every one of the numbers searched for.
#include "Memory.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Lift.h"
#include "dialects/tutti/Module.h"

using namespace mlir;

namespace tutti {

namespace {

class Search {
public:
  Search(uint64_t limit, const Ensemble &ensemble, ModuleOp planned, Replan replan)
      : limit(limit), ensemble(ensemble), members(ensemble.members.size()), first(programOf(planned)), replan(replan) {}

  std::optional<Footprint> take(ModuleOp planned, int64_t count) {
    plan::ProgramOp program = programOf(planned);
    return footprintOf(program, WeightLayout(WeightLayout::Use{program, &ensemble}), count);
  }
  bool fits(ModuleOp planned, int64_t count) {
    std::optional<Footprint> bytes = take(planned, count);
    return bytes && bytes->peak() <= limit;
  }
  /// Whether a plan under these conditions fits; one that cannot be made does not.
  bool fits(const PlanRequest &request, OwningOpRef<ModuleOp> *kept = nullptr) {
    auto planned = replan(request);
    if (!planned) {
      CompileError error = compileErrorOf(planned.takeError());
      if (error.code == ExitCode::internal && !mistake)
        mistake.emplace(error);
      return false;
    }
    bool good = fits(**planned, request.members ? request.members : members);
    if (good && kept)
      *kept = std::move(*planned);
    return good;
  }
  /// The largest number from 1 to `most` that passes; 0 if none does.
  static int64_t largest(int64_t most, llvm::function_ref<bool(int64_t)> passes) {
    int64_t low = 0;
    while (low < most) {
      int64_t middle = low + (most - low + 1) / 2;
      if (passes(middle))
        low = middle;
      else
        most = middle - 1;
    }
    return low;
  }

  llvm::Expected<OwningOpRef<ModuleOp>> inPieces() {
    OwningOpRef<ModuleOp> best;
    if (members > 1)
      largest(members - 1, [&](int64_t chunk) { return fits({chunk, 0, {}}, &best); });
    if (best && !mistake)
      return std::move(best);
    llvm::Error refused = mistake ? llvm::Error::success() : refuse();
    if (!mistake)
      return refused;
    llvm::consumeError(std::move(refused)); // what did not fit may only have failed
    return llvm::make_error<CompileError>(*mistake);
  }

private:
  llvm::Error refuse() {
    int64_t piece = members > 1 ? 1 : 0;
    auto smallest = replan({piece, 0, {}});
    if (!smallest)
      return smallest.takeError();
    std::optional<Footprint> bytes = take(**smallest, members);
    std::string text = "the artifact needs ";
    text += bytes ? std::to_string(bytes->peak()) + " bytes of memory on " : "more than 2^63 bytes of memory on ";
    text += stringifyTarget(getTarget(**smallest)).str();
    if (bytes)
      text += " (weights " + std::to_string(bytes->weights) + ", inputs and outputs " +
              std::to_string(bytes->inputs + bytes->outputs) + ", arena " + std::to_string(bytes->arena) + ", other " +
              std::to_string(bytes->state + bytes->tables + bytes->scratch) + ")";
    text += piece ? ", even with one member at a time" : "";
    text += "; --memory-limit is " + std::to_string(limit);
    std::string advice;
    int64_t most = largest(members - 1, [&](int64_t count) { return fits({1, count, {}}); });
    if (most && ensemble.groups.empty())
      advice = "at most " + std::to_string(most) + (most == 1 ? " member fits" : " members fit");
    else if (most) // which ones matters
      advice = most == 1 ? "the first member fits" : "the first " + std::to_string(most) + " members fit";
    std::string widest;
    int64_t hi = 0, lo = 0;
    for (const SizeRange &range : first.ranges())
      if (!isActiveName(range.symbol) && range.least < range.most && range.most > hi) {
        widest = range.symbol;
        lo = range.least;
        hi = range.most;
      }
    if (hi)
      if (int64_t ends = largest(hi - lo, [&](int64_t n) { return fits({piece, 0, {{widest, lo + n - 1}}}); }))
        advice += (advice.empty() ? "" : ", or ") +
                  std::string(members > 1 ? "all " + std::to_string(members) + " members" : "it") +
                  (members > 1 ? " fit with --dim " : " fits with --dim ") + widest + "=" + std::to_string(lo) + ".." +
                  std::to_string(lo + ends - 1);
    if (advice.empty())
      advice = "not even one member fits";
    return fail(ExitCode::resource, text + "; " + advice);
  }

  uint64_t limit;
  const Ensemble &ensemble;
  int64_t members;
  plan::ProgramOp first;
  Replan replan;
  std::optional<CompileError> mistake; ///< of ours, in a plan that therefore did not fit
};

} // namespace

llvm::Expected<OwningOpRef<ModuleOp>> planWithin(uint64_t limit, const Ensemble &ensemble,
                                                 OwningOpRef<ModuleOp> planned, Replan replan) {
  Search search(limit, ensemble, *planned, replan);
  if (search.fits(*planned, ensemble.members.size()))
    return std::move(planned);
  return search.inPieces();
}

} // namespace tutti
