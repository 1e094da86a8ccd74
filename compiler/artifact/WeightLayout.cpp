// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of the weights segment.
//
// Weights that every member has of its own lie member by member, so that a task reads one run of memory. A weight that
// some members share is stored once per content, with an index from member to copy.
#include "WeightLayout.h"
#include "compiler/support/Layout.h"
#include "dialects/tutti/Tutti.h"
#include "passes/analysis/Rows.h"

#include "runtime/schema/Digest.h"
#include "runtime/schema/Format.h"

#include <map>
#include <set>

using namespace mlir;

namespace tutti {

static_assert(plan::lineBytes == rt::kLineBytes);

fb::DType dtypeOf(Type element) {
  if (element.isF32())
    return fb::DType::f32;
  if (element.isF64())
    return fb::DType::f64;
  if (element.isF16())
    return fb::DType::f16;
  if (element.isBF16())
    return fb::DType::bf16;
  bool isUnsigned = cast<IntegerType>(element).isUnsigned();
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return fb::DType::bool_;
  case 8:
    return isUnsigned ? fb::DType::u8 : fb::DType::i8;
  case 16:
    return isUnsigned ? fb::DType::u16 : fb::DType::i16;
  case 32:
    return isUnsigned ? fb::DType::u32 : fb::DType::i32;
  case 64:
    return isUnsigned ? fb::DType::u64 : fb::DType::i64;
  }
  llvm_unreachable("every element of a model is listed");
}

/// A digest of a source's bytes: `length` of them at each multiple of `step`.
static uint64_t digestOf(const WeightSource &source, uint64_t length, uint64_t step) {
  uint64_t bytes = source.count() * source.elementBytes();
  const char *data = source.data;
  std::vector<char> copy;
  if (!source.contiguous()) {
    copy.resize(bytes);
    source.copyTo(copy.data());
    data = copy.data();
  }
  rt::Digest digest;
  for (uint64_t at = 0; at < bytes; at += step)
    digest.update(data + at, std::min(length, bytes - at));
  return digest.finish();
}

/// For each member the first one with the same bytes. One line of every page tells most members apart; those that agree
/// there are compared by a digest of all bytes, and those that still agree byte for byte.
static std::vector<unsigned> firstEqual(const std::vector<WeightSource> &members) {
  constexpr uint64_t page = 4096;
  std::map<uint64_t, std::vector<unsigned>> alike;
  for (unsigned m = 0; m < members.size(); ++m)
    alike[digestOf(members[m], rt::kLineBytes, page)].push_back(m);
  std::vector<unsigned> first(members.size());
  for (const auto &[lines, some] : alike) {
    std::multimap<uint64_t, unsigned> seen;
    for (unsigned m : some) {
      first[m] = m;
      if (some.size() == 1)
        continue;
      uint64_t key = digestOf(members[m], page, page);
      for (auto [it, end] = seen.equal_range(key); it != end && first[m] == m; ++it)
        if (members[m].sameBytes(members[it->second]))
          first[m] = it->second;
      if (first[m] == m)
        seen.emplace(key, m);
    }
  }
  return first;
}

WeightLayout::WeightLayout(llvm::ArrayRef<Use> programs) : ensemble(programs.front().ensemble) {
  for (Use use : programs)
    for (auto buffer : use.program.getBody().getOps<plan::BufferOp>())
      if (buffer.getSpace() == plan::Space::constant)
        addSlot(*use.ensemble, buffer);
  // A weight can be replaced only as a whole, so not where a part of it is stored by itself.
  std::set<std::pair<unsigned, std::string>> inParts;
  for (auto [slot, source] : llvm::zip_equal(slots, sources))
    if (slot->part)
      inParts.emplace(source.group, slot->name);
  // Nor can it be replaced where another program has computed with it.
  for (auto [slot, source] : llvm::zip_equal(slots, sources))
    slot->swappable &= !inParts.count({source.group, slot->name}) && llvm::none_of(programs, [&](const Use &use) {
      return use.ensemble->computedWith.count({source.group, slot->name});
    });
  place(*programs.front().ensemble);
}

uint64_t WeightLayout::copiesOf(unsigned slot, uint64_t members) const {
  const Source &source = sources[slot];
  if (!ensemble->groups.empty())
    members = llvm::count_if(ensemble->groups[source.group], [&](unsigned member) { return member < members; });
  return llvm::count_if(source.stored, [&](unsigned member) { return member < members; });
}

/// Expands an index to one entry for every member; those of other groups are never read.
static void indexAllMembers(fb::SlotT &slot, const Ensemble &ensemble) {
  if (slot.group < 0)
    return;
  std::vector<uint32_t> all(ensemble.members.size());
  for (auto [member, copy] : llvm::zip_equal(ensemble.groups[slot.group], slot.index))
    all[member] = copy;
  slot.index = std::move(all);
}

/// A slot that exists already with the same content: usually another view of the same bytes.
std::optional<unsigned> WeightLayout::findSlot(const Source &source, const fb::SlotT &slot) const {
  for (auto [i, known] : llvm::enumerate(sources)) {
    const fb::SlotT &other = *slots[i];
    if (source.value != known.value || source.layout != known.layout || slot.name != other.name ||
        slot.raw_dims != other.raw_dims || slot.perm_dims != other.perm_dims || slot.perm != other.perm ||
        slot.part != other.part || slot.per_member != other.per_member || slot.swappable != other.swappable ||
        slot.group != other.group)
      continue;
    if (source.members == known.members)
      return i;
    if (source.members && known.members && source.members->size() == known.members->size() &&
        llvm::all_of(llvm::zip_equal(*source.members, *known.members),
                     [](const auto &pair) { return std::get<0>(pair).sameBytes(std::get<1>(pair)); }))
      return i;
  }
  return std::nullopt;
}

void WeightLayout::addSlot(const Ensemble &ensemble, plan::BufferOp buffer) {
  Source source;
  auto slot = std::make_unique<fb::SlotT>();
  slot->type = std::make_unique<fb::TypeT>();
  auto type = cast<RankedTensorType>(buffer.getType());
  slot->layout = stringifyLayout(*buffer.getLayout());
  source.layout = layoutOf(*buffer.getLayout());
  slot->type->dtype = dtypeOf(type.getElementType());
  SmallVector<int64_t> dims;
  if (buffer.getParam()) {
    source.members = &ensemble.weights.find(*buffer.getParam())->second;
    const WeightSource &first = source.members->front();
    dims = first.dims;
    slot->name = first.name;
    slot->raw_dims.assign(first.rawDims.begin(), first.rawDims.end());
    slot->perm_dims.assign(first.permDims.begin(), first.permDims.end());
    slot->perm.assign(first.perm.begin(), first.perm.end());
    slot->part = !first.name.empty() && !first.whole;
    slot->per_member = isLifted(type);
    source.group = ensemble.groupOf.lookup(*buffer.getParam());
    slot->group = slot->per_member && !ensemble.groups.empty() ? int(source.group) : -1;
    bool isComputedWith =
        llvm::any_of(*source.members, [](const WeightSource &each) { return each.wasRead && *each.wasRead; });
    slot->swappable = slot->per_member && first.whole && !first.name.empty() && !isComputedWith;
  } else {
    source.value = *buffer.getValue();
    dims.assign(type.getShape().begin(), type.getShape().end());
  }
  if (std::optional<unsigned> same = findSlot(source, *slot)) {
    slotOfBuffer[buffer] = *same;
    return;
  }
  setBytes(*slot, source, dims, storageBytes(type.getElementType()));
  chooseCopies(*slot, source, ensemble);
  slotOfBuffer[buffer] = slots.size();
  slots.push_back(std::move(slot));
  sources.push_back(std::move(source));
}

void WeightLayout::setBytes(fb::SlotT &slot, const Source &source, ArrayRef<int64_t> dims, uint64_t elementBytes) {
  uint64_t count = 1;
  for (int64_t dim : dims) {
    auto extent = std::make_unique<fb::ExtentT>();
    extent->base = dim;
    slot.type->dims.push_back(std::move(extent));
    count *= dim;
  }
  slot.raw_bytes = count * elementBytes;
  slot.bytes_each = source.layout == rt::Layout::raw ? slot.raw_bytes
                                                     : rt::layoutBytes(source.layout, dims[0], dims[1], elementBytes);
}

void WeightLayout::chooseCopies(fb::SlotT &slot, Source &source, const Ensemble &ensemble) {
  source.stored = {0};
  if (source.members && source.members->size() > 1) {
    std::vector<unsigned> first = firstEqual(*source.members);
    source.stored.clear();
    llvm::DenseMap<unsigned, unsigned> copyOf;
    for (unsigned m = 0; m < first.size(); ++m) {
      if (first[m] == m) {
        copyOf[m] = source.stored.size();
        source.stored.push_back(m);
      }
      slot.index.push_back(copyOf[first[m]]);
    }
    if (!ensemble.groups.empty())
      indexAllMembers(slot, ensemble);
    else if (source.stored.size() == first.size())
      slot.index.clear();
  }
}

void WeightLayout::place(const Ensemble &ensemble) {
  auto own = [&](unsigned i) {
    size_t members = ensemble.groups.empty() ? ensemble.members.size() : ensemble.groups[sources[i].group].size();
    return members > 1 && sources[i].stored.size() == members;
  };
  for (unsigned group = 0; group < std::max<size_t>(1, ensemble.groups.size()); ++group) {
    uint64_t memberBytes = 0, members = 0;
    for (unsigned i = 0; i < slots.size(); ++i)
      if (own(i) && sources[i].group == group) {
        slots[i]->base = total + memberBytes;
        memberBytes += llvm::alignTo(slots[i]->bytes_each, rt::kLineBytes);
        members = sources[i].stored.size();
      }
    // If all members started at the same place of a page, they would compete for the same cache sets.
    if (memberBytes % 4096 == 0 && memberBytes > 0)
      memberBytes += rt::kLineBytes;
    for (unsigned i = 0; i < slots.size(); ++i)
      if (own(i) && sources[i].group == group)
        slots[i]->stride = memberBytes;
    total += memberBytes * members;
  }
  for (unsigned i = 0; i < slots.size(); ++i) {
    if (own(i))
      continue;
    uint64_t each = llvm::alignTo(slots[i]->bytes_each, rt::kLineBytes);
    slots[i]->base = total;
    slots[i]->stride = sources[i].stored.size() > 1 ? each : 0;
    if (slots[i]->stride == 0)
      slots[i]->index.clear();
    total += each * sources[i].stored.size();
  }
}

void WeightLayout::pack(const Source &source, unsigned copy, std::vector<char> &bytes) const {
  if (source.value) {
    auto dense = cast<DenseElementsAttr>(source.value);
    Type element = dense.getElementType();
    uint64_t each = storageBytes(element);
    bytes.resize(dense.getNumElements() * each);
    uint64_t at = 0;
    auto put = [&](const APInt &value) {
      uint64_t word = value.getZExtValue();
      std::memcpy(bytes.data() + at, &word, each);
      at += each;
    };
    if (isa<FloatType>(element))
      for (APFloat value : dense.getValues<APFloat>())
        put(value.bitcastToAPInt());
    else
      for (APInt value : dense.getValues<APInt>())
        put(value);
    return;
  }
  const WeightSource &from = (*source.members)[source.stored[copy]];
  if (source.layout == rt::Layout::raw) {
    bytes.resize(from.count() * from.elementBytes());
    from.copyTo(bytes.data());
    return;
  }
  int64_t element = int64_t(from.elementBytes()), strideK = from.strides[0], strideN = from.strides[1];
  bytes.resize(rt::layoutBytes(source.layout, from.dims[0], from.dims[1], element));
  const char *matrix = from.data;
  std::vector<char> aligned;
  // A tensor may start anywhere in its file, but numbers are read at aligned addresses only.
  if (reinterpret_cast<uintptr_t>(from.data) % uintptr_t(element) != 0) {
    aligned.resize(from.count() * element);
    from.copyTo(aligned.data());
    matrix = aligned.data();
    strideK = from.dims[1];
    strideN = 1;
  }
  rt::packMatrix(source.layout, bytes.data(), matrix, element, from.dims[0], from.dims[1], strideK, strideN);
}

llvm::Error WeightLayout::forEachCopy(llvm::function_ref<llvm::Error(uint64_t, llvm::ArrayRef<char>)> write) const {
  std::vector<std::pair<uint64_t, std::pair<unsigned, unsigned>>> copies;
  for (unsigned i = 0; i < slots.size(); ++i)
    for (unsigned copy = 0; copy < sources[i].stored.size(); ++copy)
      copies.push_back({slots[i]->base + copy * slots[i]->stride, {i, copy}});
  llvm::sort(copies);
  std::vector<char> bytes;
  for (const auto &[offset, what] : copies) {
    pack(sources[what.first], what.second, bytes);
    if (llvm::Error error = write(offset, bytes))
      return error;
  }
  return llvm::Error::success();
}

} // namespace tutti
