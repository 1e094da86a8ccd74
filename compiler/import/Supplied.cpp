// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights by name, and the report of those that do not fit.
#include "compiler/import/Supplied.h"
#include "compiler/import/Limits.h"
#include "compiler/import/Member.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/support/Error.h"
#include "runtime/schema/Digest.h"

#include "llvm/ADT/StringMap.h"

#include <cstring>
#include <map>
#include <tuple>

namespace tutti {

llvm::Expected<std::shared_ptr<SafetensorsFile>> openWeights(const MemberFiles &files) {
  if (files.weights.empty())
    return nullptr;
  return SafetensorsFile::open(files.weights);
}

namespace {

/// The most names that are searched for the nearest one, and bytes of such a name.
constexpr size_t mostNames = 512, mostLetters = 120;

bool isFloat(int32_t dataType) {
  using onnx::TensorProto;
  return llvm::is_contained({TensorProto::FLOAT, TensorProto::FLOAT16, TensorProto::DOUBLE, TensorProto::BFLOAT16},
                            dataType);
}

/// Frameworks put prefixes before names, so a name that ends in the other is nearest; then one with few edits.
std::string nearest(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names) {
  llvm::StringRef best;
  unsigned least = std::min<size_t>(name.size(), mostLetters) / 3 + 1;
  for (llvm::StringRef other : names.take_front(mostNames)) {
    if (other.size() > mostLetters || name.size() > mostLetters)
      continue;
    unsigned distance = other.ends_with(name) || name.ends_with(other) ? 0 : other.edit_distance(name, true, least);
    if (distance < least) {
      best = other;
      least = distance;
    }
  }
  return best.empty() ? "" : "; the nearest name there is " + quote(best);
}

/// Tensors of a file that repeat others under another name: weights that a model ties.
class Twins {
public:
  /// `named`: whether the model has a name.
  Twins(const SafetensorsFile &weights, llvm::function_ref<bool(llvm::StringRef)> named) {
    for (const auto &[name, tensor] : weights.tensors)
      if (named(name))
        firsts.try_emplace(keyOf(tensor), &tensor);
  }
  bool has(const SafetensorsFile::Tensor &tensor) const {
    auto at = firsts.find(keyOf(tensor));
    return at != firsts.end() && std::memcmp(at->second->data, tensor.data, tensor.bytes) == 0;
  }

private:
  using Key = std::tuple<int32_t, std::vector<int64_t>, uint64_t>;
  static Key keyOf(const SafetensorsFile::Tensor &tensor) {
    return {tensor.dataType, tensor.dims, rt::xxh64(tensor.data, tensor.bytes)};
  }
  std::map<Key, const SafetensorsFile::Tensor *> firsts;
};

/// Whether a tensor of a framework's state is no weight but a counter of the batches that a norm has seen.
bool isCounter(const SafetensorsFile::Tensor &tensor) { return tensor.dims.empty() && !isFloat(tensor.dataType); }

} // namespace

llvm::Error checkSupplied(const SafetensorsFile &weights, const MemberFiles &files, llvm::ArrayRef<Wanted> wanted) {
  llvm::StringMap<const Wanted *> byName;
  for (const Wanted &each : wanted)
    byName[each.name] = &each;
  std::vector<llvm::StringRef> extra;
  for (const auto &[name, tensor] : weights.tensors)
    if (!byName.contains(name) && !isCounter(tensor))
      extra.push_back(name);
  if (!extra.empty()) {
    Twins twins(weights, [&](llvm::StringRef name) { return byName.contains(name); });
    llvm::erase_if(extra, [&](llvm::StringRef name) { return twins.has(weights.tensors.find(name.str())->second); });
  }

  std::string list;
  size_t findings = 0, unnamed = extra.size();
  auto add = [&](const std::string &line) {
    if (++findings <= mostMisfits)
      list += "\n  " + line;
  };
  for (const Wanted &each : wanted) {
    SafetensorsFile::Tensor expected{each.dataType, each.dims};
    auto at = weights.tensors.find(each.name);
    if (at == weights.tensors.end()) {
      if (each.used && isFloat(each.dataType) && !each.dims.empty()) {
        ++unnamed;
        add("missing: " + quote(each.name) + ", " + expected.str() +
            (findings < mostMisfits ? nearest(each.name, extra) : ""));
      }
    } else if (at->second.dataType != each.dataType || at->second.dims != each.dims) {
      add("does not fit: " + quote(each.name) + " is " + at->second.str() + ", expected " + expected.str());
    }
  }
  for (llvm::StringRef name : extra)
    add("extra: " + quote(name) + ", " + weights.tensors.find(name.str())->second.str() +
        ", is no initializer of the model");
  if (!findings)
    return llvm::Error::success();
  if (findings > mostMisfits)
    list += "\n  and " + std::to_string(findings - mostMisfits) + " more";
  if (unnamed)
    list += "\n  (an exporter that folds weights, or keeps one of several that are equal, leaves initializers of other "
            "names: torch does not with optimize=False, or do_constant_folding=False)";
  return fail(ExitCode::usage,
              "the weights in " + quote(files.weights) + " are not those of " + quote(files.model) + ":" + list);
}

std::optional<WeightSource> suppliedTensor(mlir::MLIRContext &context, const SafetensorsFile &weights,
                                           const std::string &name, int32_t dataType) {
  mlir::Type element = elementOf(context, dataType);
  auto at = weights.tensors.find(name);
  if (!element || at == weights.tensors.end())
    return std::nullopt;
  return asInitializer(denseView(weights.mapped, at->second.data, element, at->second.dims), name);
}

uint64_t digestOf(uint64_t model, const SafetensorsFile *weights, const ImportOptions &options) {
  if (!weights && options.binds.empty())
    return model;
  rt::Digest digest;
  auto add = [&](uint64_t part) { digest.update(&part, sizeof(part)); };
  add(model);
  if (weights)
    add(rt::xxh64(weights->mapped->data(), weights->mapped->size()));
  for (const auto &[name, bound] : options.binds)
    add(bound.digest);
  return digest.finish();
}

llvm::Expected<uint64_t> digestOf(const MemberFiles &files, const ImportOptions &options) {
  auto mapped = MappedFile::open(files.model);
  if (!mapped)
    return mapped.takeError();
  uint64_t model = rt::xxh64((*mapped)->data(), (*mapped)->size());
  if (!isMlir(files.model)) {
    if (auto file = OnnxFile::open(files.model))
      model = (*file)->digest();
    else
      llvm::consumeError(file.takeError()); // it is no model, so it has no tensors elsewhere
  }
  std::shared_ptr<SafetensorsFile> weights;
  if (!files.weights.empty()) {
    auto mapped = MappedFile::open(files.weights);
    if (!mapped)
      return mapped.takeError();
    weights = std::make_shared<SafetensorsFile>();
    weights->mapped = *mapped;
  }
  return digestOf(model, weights.get(), options);
}

std::vector<MemberFiles> membersOf(llvm::ArrayRef<std::string> models, llvm::ArrayRef<std::string> weights) {
  std::vector<MemberFiles> members;
  for (size_t i = 0; i < std::max(models.size(), weights.size()); ++i)
    members.push_back({models[weights.empty() ? i : 0], weights.empty() ? "" : weights[i], -1});
  return members;
}

} // namespace tutti
