// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The canonical order of ops and operands.
#include "compiler/import/NormalForm.h"
#include "runtime/schema/Digest.h"

#include <array>
#include <bit>

using namespace mlir;

namespace tutti {
namespace {

/// A hash like FNV-1a on 64-bit words, the same on every run and machine, which llvm::hash_code does not promise. The
/// product never moves high bits down; the shift does.
uint64_t mix(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001B3 ^ (hash >> 29); }
uint64_t mix(uint64_t hash, StringRef text) { return mix(hash, rt::xxh64(text.data(), text.size())); }

uint64_t hashOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  uint64_t hash = mix(element.getIntOrFloatBitWidth(),
                      isa<FloatType>(element) + 2 * element.isBF16() + 4 * element.isUnsignedInteger());
  // A symbolic size counts only as symbolic: a member's names for sizes do not matter.
  for (int64_t size : tensor.getShape())
    hash = mix(hash, size);
  return hash;
}

uint64_t hashOf(Attribute attribute) {
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    uint64_t hash = numbers.size();
    for (int64_t number : numbers.asArrayRef())
      hash = mix(hash, number);
    return hash;
  }
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getValue().getZExtValue();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return mix(1, text.getValue());
  if (auto kind = dyn_cast<ReduceKindAttr>(attribute))
    return static_cast<uint64_t>(kind.getValue());
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute))
    return mix(elements.getNumElements(), StringRef(elements.getRawData().data(), elements.getRawData().size()));
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return mix(2, text);
}

/// Identifies equal constants: the same view of the same initializer, or equal scalars. Constants that may be each
/// member's own are excepted, since those that are equal in one member need not be in others.
class ConstantIds {
public:
  explicit ConstantIds(bool keepsNumbers) : keepsNumbers(keepsNumbers) {}

  unsigned of(const WeightSource &source) {
    if (std::optional<double> scalar = keepsNumbers ? std::nullopt : scalarOf(source)) {
      auto [place, fresh] = scalars.try_emplace(
          {source.element.getAsOpaquePointer(), std::bit_cast<uint64_t>(*scalar), source.dims.size()}, &source, next);
      next += fresh;
      auto [first, id] = place->second;
      if (!first->name.empty() && !source.name.empty() && first->name != source.name) { // neither may replace the other
        setRead(*first);
        setRead(source);
      }
      return id;
    }
    for (auto &[view, id] : views[source.data])
      if (view->sameView(source))
        return id;
    views[source.data].push_back({&source, next});
    return next++;
  }

private:
  bool keepsNumbers;
  unsigned next = 0;
  std::map<std::tuple<const void *, uint64_t, size_t>, std::pair<const WeightSource *, unsigned>> scalars;
  DenseMap<const char *, SmallVector<std::pair<const WeightSource *, unsigned>>> views;
};

/// Two ops with equal keys are one: name, attributes, and the operands' numbers.
using OpKey = std::tuple<const void *, const void *, SmallVector<unsigned, 4>, const void *>;

class Normalizer {
public:
  explicit Normalizer(const Emit &emit) : emit(emit), constants(emit.keepsNumbers()) {}

  void run(func::FuncOp function) {
    Block &block = function.getBody().front();
    for (BlockArgument argument : block.getArguments())
      tell(argument, mix(mix(3, argument.getArgNumber()), hashOf(argument.getType())), nextNumber++);
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      visit(&op);
    order(block);
  }

private:
  /// Hashes of what computes a value, some ops deep: equal for equal layers at different depths.
  using Near = std::array<uint64_t, 3>;
  struct Info {
    uint64_t hash;
    unsigned number;
    bool constant;
    Near near;
  };

  void tell(Value value, uint64_t hash, unsigned number, bool constant = false) {
    Near near;
    near.fill(mix(6, nameOf(value)));
    if (Operation *op = value.getDefiningOp())
      for (size_t i = 1; i < near.size(); ++i)
        for (Value operand : op->getOperands())
          near[i] = mix(near[i], infos[operand].near[i - 1]);
    infos[value] = {hash, number, constant, near};
  }

  static StringRef nameOf(Value value) {
    Operation *op = value.getDefiningOp();
    return op ? op->getName().getStringRef() : StringRef();
  }

  void visit(Operation *op) {
    if (auto get = dyn_cast<GetOp>(op)) {
      auto [place, fresh] = constantNumbers.try_emplace(constants.of(*emit.sourceOf(get)), nextNumber);
      nextNumber += fresh;
      tell(get, mix(4, hashOf(get.getType())), place->second, true);
      return;
    }
    if (op->hasTrait<OpTrait::IsCommutative>() && op->getNumOperands() == 2) {
      Info a = infos[op->getOperand(0)], b = infos[op->getOperand(1)];
      // The nearest ops decide first, so that equal layers at different depths keep equal forms.
      Value first = op->getOperand(0);
      if (std::tuple(b.constant, nameOf(op->getOperand(1)), b.near, b.hash) <
          std::tuple(a.constant, nameOf(first), a.near, a.hash)) {
        op->setOperand(0, op->getOperand(1));
        op->setOperand(1, first);
      }
    }
    Attribute attributes = op->getPropertiesAsAttribute();
    if (!attributes)
      attributes = op->getAttrDictionary();
    uint64_t hash = mix(mix(5, op->getName().getStringRef()), hashOf(op->getResult(0).getType()));
    // Lists of numbers may be each member's own, as weights are, so the order depends on their type only.
    auto constant = dyn_cast<ConstantOp>(op);
    bool list = constant && constant.getValue().getNumElements() > 1;
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(attributes); dictionary && !list)
      for (NamedAttribute each : dictionary)
        hash = mix(mix(hash, each.getName().getValue()), hashOf(each.getValue()));
    OpKey key{op->getName().getAsOpaquePointer(),
              attributes.getAsOpaquePointer(),
              {},
              op->getResult(0).getType().getAsOpaquePointer()};
    // Lists that are equal in one member need not be in others.
    if (const void *own = list && emit.keepsNumbers() ? emit.listOf(op) : nullptr)
      std::get<0>(key) = own;
    for (Value operand : op->getOperands()) {
      hash = mix(hash, infos[operand].hash);
      std::get<2>(key).push_back(infos[operand].number);
    }
    auto [place, fresh] = seen.try_emplace(std::move(key), op);
    if (!fresh) {
      op->getResult(0).replaceAllUsesWith(place->second->getResult(0));
      infos.erase(op->getResult(0));
      op->erase();
      return;
    }
    tell(op->getResult(0), hash, nextNumber++, isa<ConstantOp>(op));
  }

  /// Walks depth first from the outputs, operands in order; without recursion, as models may be deep.
  static void order(Block &block) {
    Operation *end = block.getTerminator();
    DenseSet<Operation *> placed;
    SmallVector<std::pair<Operation *, unsigned>> path{{end, 0}};
    while (!path.empty()) {
      auto &[op, next] = path.back();
      if (next < op->getNumOperands()) {
        Operation *before = op->getOperand(next++).getDefiningOp();
        if (before && placed.insert(before).second)
          path.push_back({before, 0});
        continue;
      }
      if (op != end)
        op->moveBefore(end);
      path.pop_back();
    }
    SmallVector<Operation *> dead;
    for (Operation &op : block.without_terminator())
      if (!placed.contains(&op))
        dead.push_back(&op);
    for (Operation *op : llvm::reverse(dead))
      op->erase();
  }

  const Emit &emit;
  ConstantIds constants;
  DenseMap<unsigned, unsigned> constantNumbers;
  DenseMap<Value, Info> infos;
  std::map<OpKey, Operation *> seen;
  unsigned nextNumber = 0;
};

} // namespace

void normalize(func::FuncOp function, const Emit &emit) { Normalizer(emit).run(function); }

llvm::StringMap<WeightSource> declareParams(ModuleOp module, func::FuncOp function, Emit &emit) {
  llvm::StringMap<WeightSource> weights;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  for (GetOp get : function.getBody().front().getOps<GetOp>()) {
    WeightSource source = *emit.sourceOf(get);
    std::string symbol = "p" + std::to_string(weights.size());
    ParamOp::create(builder, get.getLoc(), symbol, typeOf(get), /*per_member=*/true);
    get.setParam(symbol);
    weights[symbol] = std::move(source);
  }
  return weights;
}

} // namespace tutti
