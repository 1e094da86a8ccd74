// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alignment of members and sharing of their weights.
#include "compiler/import/align/Align.h"
#include "compiler/import/Member.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/align/Compare.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Tutti.h"
#include "runtime/schema/Digest.h"

using namespace mlir;

namespace tutti {
namespace {

using Sources = std::vector<WeightSource>;

/// Whether the members' copies are equal; compares each with member 0's up to the first difference.
bool allEqual(const Sources &sources) {
  return llvm::all_of(llvm::drop_begin(sources),
                      [&](const WeightSource &source) { return source.sameBytes(sources[0]); });
}

/// XXH64 of the elements in row-major order.
uint64_t contentOf(const WeightSource &source) {
  if (source.contiguous())
    return rt::xxh64(source.data, source.count() * source.elementBytes());
  std::vector<char> bytes(source.count() * source.elementBytes());
  source.copyTo(bytes.data());
  return rt::xxh64(bytes.data(), bytes.size());
}

/// Constants of the graph whose elements differ in some member, by the number of their op in main.
class OwnConstants {
public:
  /// Adds member number `index`, which differs from the first in the ops `numbers`, in ascending order.
  void add(const MemberModel &first, const MemberModel &other, size_t index, ArrayRef<unsigned> numbers) {
    std::vector<Operation *> ofFirst, ofOther;
    if (!numbers.empty())
      ofFirst = opsOf(*first.module), ofOther = opsOf(*other.module);
    for (unsigned number : numbers)
      if (auto [own, isNew] = sources.try_emplace(number); isNew)
        own->second.assign(index, sourceOf(ofFirst[number]));
    for (auto &[number, own] : sources) {
      bool differs = !numbers.empty() && numbers.front() == number;
      own.push_back(differs ? sourceOf(ofOther[number]) : own.front());
      numbers = numbers.drop_front(differs);
    }
  }

  /// Turns them into parameters.
  void declare(Ensemble &ensemble) const {
    ModuleOp module = *ensemble.module;
    std::vector<Operation *> ops = opsOf(module);
    for (const auto &[number, own] : sources) {
      auto constant = cast<ConstantOp>(ops[number]);
      std::string symbol = "p" + std::to_string(ensemble.weights.size());
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      ParamOp::create(builder, constant.getLoc(), symbol, constant.getType(), /*per_member=*/true);
      builder.setInsertionPoint(constant);
      constant.replaceAllUsesWith(GetOp::create(builder, constant.getLoc(), constant.getType(), symbol).getResult());
      constant.erase();
      ensemble.weights[symbol] = own;
    }
  }

private:
  std::map<unsigned, Sources> sources;

  static std::vector<Operation *> opsOf(ModuleOp module) {
    auto ops = llvm::make_pointer_range(mainOf(module).getBody().front());
    return {ops.begin(), ops.end()};
  }
  static WeightSource sourceOf(Operation *constant) {
    return computedSource(HostTensor::fromAttr(cast<ConstantOp>(constant).getValue()));
  }
};

class Sharing {
public:
  /// `hasConstants`: whether the files' import has folded what is computed from single numbers. Otherwise a kernel
  /// computes it, even where all members have the same numbers, so that their bits are those of members that differ.
  Sharing(Ensemble &ensemble, const AlignOptions &options, bool hasConstants)
      : ensemble(ensemble), options(options), hasConstants(hasConstants), symbols(ensemble.module.get()),
        main(mainOf(*ensemble.module)) {}

  void run() {
    ensemble.module->walk([&](GetOp get) { ++uses[get.getParam()]; }); // also in functions that are mapped
    llvm::StringMap<GetOp> firsts;
    for (GetOp get : llvm::make_early_inc_range(main.getBody().front().getOps<GetOp>())) {
      auto [first, isNew] = firsts.try_emplace(get.getParam(), get);
      if (isNew)
        continue;
      get.getResult().replaceAllUsesWith(first->second.getResult());
      --uses[get.getParam()];
      get.erase();
    }
    for (GetOp get : llvm::make_early_inc_range(main.getBody().front().getOps<GetOp>()))
      visit(get);
  }

private:
  void visit(GetOp get) {
    auto param = symbols.lookup<ParamOp>(get.getParam());
    Sources &sources = ensemble.weights[get.getParam()];
    // A layer of one term stays a layer: at lower precisions its product is rounded, as in ensembles whose members
    // differ in it.
    bool scalar = hasConstants && sources[0].count() == 1 && llvm::none_of(get->getUsers(), llvm::IsaPred<ContractOp>);
    // A constant that no member's file stores as an initializer is part of the graph, not a weight.
    bool weight = llvm::any_of(sources, [](const WeightSource &source) { return !source.name.empty(); });
    bool mayShare = options.shareByContent || !weight;
    // A single member's weights keep the places that they have in any ensemble.
    bool shared = mayShare && (sources.size() > 1 || scalar) && allEqual(sources);
    if (shared && scalar) {
      OpBuilder builder(get);
      auto constant = ConstantOp::create(builder, get.getLoc(), toAttr(sources[0]));
      replace(get, param, constant.getResult());
      return;
    }
    uint64_t content = shared ? contentOf(sources[0]) : reinterpret_cast<uintptr_t>(sources[0].data);
    std::vector<GetOp> &alike = byContent[content];
    if (GetOp twin = findTwin(alike, param, sources, shared)) {
      replace(get, param, twin.getResult());
      return;
    }
    if (shared) {
      param.setPerMember(false);
      sources.resize(1);
      sources.shrink_to_fit();
    }
    alike.push_back(get);
  }

  /// Finds among earlier uses one of a param with the same values: the same view of the same initializer in every
  /// member or, for shared params, the same bytes.
  GetOp findTwin(ArrayRef<GetOp> alike, ParamOp param, const Sources &sources, bool shared) {
    for (GetOp get : alike) {
      auto earlier = symbols.lookup<ParamOp>(get.getParam());
      const Sources &theirs = ensemble.weights[earlier.getSymName()];
      if (earlier.getType() != param.getType() || earlier.getPerMember() == shared)
        continue;
      if (shared ? theirs[0].sameBytes(sources[0])
                 : llvm::all_of(llvm::zip_equal(theirs, sources),
                                [](const auto &pair) { return std::get<0>(pair).sameView(std::get<1>(pair)); }))
        return get;
    }
    return GetOp();
  }

  void replace(GetOp get, ParamOp param, Value value) {
    get.getResult().replaceAllUsesWith(value);
    get.erase();
    if (--uses[param.getSymName()])
      return;
    ensemble.weights.erase(param.getSymName());
    symbols.erase(param);
  }

  Ensemble &ensemble;
  const AlignOptions &options;
  bool hasConstants;
  SymbolTable symbols;
  func::FuncOp main;
  llvm::StringMap<unsigned> uses; ///< of each param
  std::map<uint64_t, std::vector<GetOp>> byContent;
};

llvm::Expected<std::vector<Ensemble>> alignAsImported(MemberReader &reader, ArrayRef<MemberFiles> members,
                                                      ArrayRef<ImportOptions> bindings,
                                                      const AlignOptions &alignOptions) {
  if (members.empty())
    return fail(ExitCode::usage, "there is no model file to compile");
  std::vector<Ensemble> ensembles(bindings.size());
  std::vector<MemberModel> first(bindings.size());
  std::vector<Ports> ports(bindings.size());
  std::vector<OwnConstants> constants(bindings.size());
  for (auto [i, member] : llvm::enumerate(members)) {
    if (llvm::Error error = reader.open(member))
      return std::move(error);
    for (size_t b = 0; b < bindings.size(); ++b) {
      size_t before = ensembles[b].members.size();
      auto models = reader.read(bindings[b], before ? &ports[b] : alignOptions.ports, i);
      if (!models)
        return models.takeError();
      MemberModel &model = models->front();
      if (before) {
        SmallVector<unsigned> differing;
        if (llvm::Error error = compare(first[b], model, before, reader.readsText(), differing))
          return std::move(error);
        constants[b].add(first[b], model, before, differing);
      }
      for (MemberModel &each : *models) {
        ensembles[b].members.push_back({each.name, each.file, each.digest});
        for (auto &[symbol, source] : each.weights) {
          Sources &sources = ensembles[b].weights[symbol];
          sources.reserve(members.size());
          sources.push_back(source);
        }
      }
      if (before)
        continue;
      for (const std::string &name : model.computedWith)
        ensembles[b].computedWith.emplace(0, name);
      ports[b] = portsOf(model);
      first[b] = std::move(model);
    }
  }
  for (auto [ensemble, model, own] : llvm::zip_equal(ensembles, first, constants)) {
    ensemble.module = std::move(model.module);
    own.declare(ensemble);
    Sharing(ensemble, alignOptions, !reader.readsText()).run();
    setMembers(*ensemble.module, ensemble.members.size());
  }
  return ensembles;
}

} // namespace

llvm::Expected<std::vector<Ensemble>> alignBindings(MLIRContext &context, ArrayRef<MemberFiles> members,
                                                    ArrayRef<ImportOptions> bindings,
                                                    const AlignOptions &alignOptions) {
  MemberReader reader(context);
  auto ensembles = alignAsImported(reader, members, bindings, alignOptions);
  if (ensembles || members.size() < 2 || reader.readsText())
    return ensembles;
  // Columns that one member chooses may be evenly apart, which becomes a slice there, but not in another; and one
  // member may scale by 1, or by a power of two.
  bool mayDiffer = false;
  llvm::Error first = llvm::handleErrors(ensembles.takeError(), [&](std::unique_ptr<CompileError> error) {
    mayDiffer = error->code == ExitCode::unsupported;
    return llvm::Error(std::move(error));
  });
  if (!mayDiffer)
    return std::move(first);
  for (Kept kept : {Kept::weights, Kept::constants}) {
    std::vector<ImportOptions> keeping(bindings.begin(), bindings.end());
    for (ImportOptions &options : keeping)
      options.kept = kept;
    auto again = alignAsImported(reader, members, keeping, alignOptions);
    if (again) {
      llvm::consumeError(std::move(first));
      return again;
    }
    llvm::consumeError(again.takeError());
  }
  return std::move(first);
}

llvm::Expected<Ensemble> align(MLIRContext &context, ArrayRef<std::string> paths, const ImportOptions &options,
                               const AlignOptions &alignOptions) {
  auto ensembles = alignBindings(context, membersOf(paths, {}), options, alignOptions);
  if (!ensembles)
    return ensembles.takeError();
  return std::move(ensembles->front());
}

} // namespace tutti
