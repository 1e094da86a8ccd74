// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks segments, slots, kernels and members.
#include "Check.h"

#include "runtime/schema/Layout.h"

namespace tutti::rt {

namespace {
struct DTypeInfo {
  const char *name;
  uint32_t bits;
};
constexpr DTypeInfo kDTypes[] = {{"none", 0},
                                 {"bool", 8},
                                 {"int2", 2},
                                 {"uint2", 2},
                                 {"int4", 4},
                                 {"uint4", 4},
                                 {"int8", 8},
                                 {"uint8", 8},
                                 {"int16", 16},
                                 {"uint16", 16},
                                 {"int32", 32},
                                 {"uint32", 32},
                                 {"int64", 64},
                                 {"uint64", 64},
                                 {"float4_e2m1fn", 4},
                                 {"float8_e4m3fn", 8},
                                 {"float8_e4m3fnuz", 8},
                                 {"float8_e5m2", 8},
                                 {"float8_e5m2fnuz", 8},
                                 {"float8_e8m0fnu", 8},
                                 {"float16", 16},
                                 {"bfloat16", 16},
                                 {"float32", 32},
                                 {"float64", 64},
                                 {"string", 0},
                                 {"complex64", 64},
                                 {"complex128", 128}};
static_assert(std::size(kDTypes) == size_t(fb::DType::MAX) + 1);
} // namespace

uint32_t bitsOf(fb::DType dtype) { return dtype <= fb::DType::MAX ? kDTypes[size_t(dtype)].bits : 0; }
fb::DType dtypeOf(tutti_dtype_t dtype) {
  constexpr auto most = uint32_t(fb::DType::MAX);
  return fb::DType(std::min(rawOf(dtype), most + 1));
}
const char *nameOf(fb::DType dtype) { return dtype <= fb::DType::MAX ? kDTypes[size_t(dtype)].name : "unknown"; }

bool denseBytes(fb::DType dtype, const int64_t *dims, uint32_t rank, uint64_t &bytes) {
  int64_t total = bitsOf(dtype);
  for (uint32_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || !checkedMul(total, dims[i], total))
      return false;
  bytes = (uint64_t(total) + 7) / 8;
  return true;
}

uint32_t copiesOf(const fb::Slot &slot, uint32_t numMembers) {
  if (!slot.per_member() || slot.stride() == 0)
    return 1;
  if (!count(slot.index()))
    return numMembers;
  uint32_t copies = 0;
  for (uint32_t i : *slot.index())
    copies = std::max(copies, i + 1);
  return copies;
}

namespace {
class Checker {
public:
  Checker(const fb::Root &root, const FileHeader &header, tutti_error_t *error)
      : root(root), header(header), error(error) {}

  tutti_status_t run() {
    if (root.format() > kFormatVersion)
      return fail(error, TUTTI_NEWER_FORMAT, "the metadata has format %u, this runtime reads %u", root.format(),
                  kFormatVersion);
    if (root.format() != header.version)
      return fail(error, TUTTI_MALFORMED, "malformed artifact: the metadata has format %u, the header %u",
                  root.format(), header.version);
    for (uint32_t i = 0; i < count(root.required_features()); ++i)
      if (std::string_view feature = view(root.required_features()->Get(i));
          std::find(std::begin(kFeatures), std::end(kFeatures), feature) == std::end(kFeatures))
        return fail(error, TUTTI_UNSUPPORTED, "the artifact needs the feature '%.80s', which this runtime has not",
                    text(root.required_features()->Get(i)));
    if (count(root.members()) < 1 || count(root.members()) > kMaxMembers)
      return bad("members", 0, "are %u, expected 1 to %u", count(root.members()), kMaxMembers);
    for (uint32_t i = 0; i < count(root.segments()); ++i)
      if (auto status = segment(*root.segments()->Get(i), i))
        return status;
    for (uint32_t i = 0; i < count(root.kernels()); ++i)
      if (auto status = kernel(*root.kernels()->Get(i), i))
        return status;
    for (uint32_t i = 0; i < count(root.slots()); ++i)
      if (auto status = slot(*root.slots()->Get(i), i))
        return status;
    if (count(root.programs()) < 1 || count(root.programs()) > kMaxPrograms)
      return bad("programs", 0, "are %u, expected 1 to %u", count(root.programs()), kMaxPrograms);
    for (uint32_t i = 0; i < count(root.programs()); ++i)
      if (auto status = checkProgram(root, *root.programs()->Get(i), i, error))
        return status;
    for (uint32_t i = 1; i < count(root.programs()); ++i) {
      uint32_t first = firstOfEntry(i);
      bool areSame = first == i || haveSamePorts(first, i);
      if (compared > header.metadataBytes)
        return bad("programs", 0, "have names that are longer than the metadata");
      if (!areSame)
        return bad("program", i, "has other inputs and outputs than program %u of its entry", first);
    }
    return TUTTI_OK;
  }

private:
  [[gnu::format(printf, 4, 5)]] tutti_status_t bad(const char *what, uint32_t index, const char *format, ...) {
    char detail[256];
    va_list args;
    va_start(args, format);
    std::vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    return fail(error, TUTTI_MALFORMED, "malformed artifact: %s %u %s", what, index, detail);
  }
  using ull = unsigned long long;

  /// Whether two texts are equal. What is compared counts, as many may be one that is long: past the metadata's bytes
  /// none are.
  bool same(const flatbuffers::String *a, const flatbuffers::String *b) {
    if (a == b)
      return true;
    if (view(a).size() != view(b).size() || (compared += view(a).size()) > header.metadataBytes)
      return false;
    return view(a) == view(b);
  }
  uint32_t firstOfEntry(uint32_t program) {
    uint32_t first = 0;
    while (first < program && !same(root.programs()->Get(first)->entry(), root.programs()->Get(program)->entry()))
      ++first;
    return first;
  }
  /// But for their dims.
  bool haveSamePorts(uint32_t a, uint32_t b) {
    const fb::Program &first = *root.programs()->Get(a), &second = *root.programs()->Get(b);
    bool are = count(first.ports()) == count(second.ports());
    for (uint32_t i = 0; are && i < count(first.ports()); ++i) {
      const fb::Port &p = *first.ports()->Get(i), &q = *second.ports()->Get(i);
      are = same(p.name(), q.name()) && same(p.head(), q.head()) && p.type()->dtype() == q.type()->dtype() &&
            count(p.type()->dims()) == count(q.type()->dims()) && p.per_member() == q.per_member() &&
            first.buffers()->Get(p.buffer())->space() == second.buffers()->Get(q.buffer())->space();
    }
    return are;
  }

  tutti_status_t segment(const fb::Segment &s, uint32_t i) {
    if (s.kind() > fb::SegmentKind::MAX)
      return bad("segment", i, "has kind %u", unsigned(s.kind()));
    if (count(s.digest()) != 8)
      return bad("segment", i, "has a digest of %u bytes, expected 8", count(s.digest()));
    if (s.offset() % kPageBytes || s.offset() < sizeof(FileHeader) || s.offset() > header.fileBytes ||
        s.bytes() > header.fileBytes - s.offset())
      return bad("segment", i, "is %llu bytes at %llu, in a file of %llu bytes and pages of %llu", ull(s.bytes()),
                 ull(s.offset()), ull(header.fileBytes), ull(kPageBytes));
    // They lie side by side; else their digests could be of any number of bytes.
    if ((segmentBytes += s.bytes()) > header.fileBytes)
      return bad("segment", i, "has %llu bytes, which with those before it are more than the file's %llu",
                 ull(s.bytes()), ull(header.fileBytes));
    bool inside = s.offset() >= header.codeOffset && s.offset() - header.codeOffset <= header.codeBytes &&
                  s.bytes() <= header.codeBytes - (s.offset() - header.codeOffset);
    if (s.kind() == fb::SegmentKind::code && !inside)
      return bad("segment", i, "is code outside the code region");
    return TUTTI_OK;
  }

  tutti_status_t kernel(const fb::Kernel &k, uint32_t i) {
    if (count(k.images()) > kMaxImages)
      return bad("kernel", i, "has %u images, expected at most %u", count(k.images()), kMaxImages);
    for (uint32_t j = 0; j < count(k.images()); ++j) {
      const fb::Image &image = *k.images()->Get(j);
      if (image.segment() >= count(root.segments()))
        return bad("kernel", i, "has an image in segment %u of %u", image.segment(), count(root.segments()));
      const fb::Segment &s = *root.segments()->Get(image.segment());
      if (s.kind() != fb::SegmentKind::code || image.offset() >= s.bytes() ||
          image.bytes() > s.bytes() - image.offset())
        return bad("kernel", i, "has an image of %llu bytes at byte %llu of segment %u, which has %llu bytes of %s",
                   ull(image.bytes()), ull(image.offset()), image.segment(), ull(s.bytes()),
                   s.kind() == fb::SegmentKind::code ? "code" : "weights");
    }
    return TUTTI_OK;
  }

  /// Bytes that the layout needs for one copy; 0 when the slot's type does not fit the layout, or a copy the segment.
  uint64_t copyBytes(const fb::Slot &slot, const int64_t *dims, uint32_t rank, uint64_t dense, uint64_t available) {
    Layout layout = parseLayout(view(slot.layout()));
    uint64_t least = layout == Layout::raw ? dense : dense / uint64_t(elementsOfWord(layout));
    if (least > available)
      return 0;
    if (layout == Layout::raw || dense == 0)
      return dense;
    fb::DType type = slot.type()->dtype();
    // A word is of four bytes.
    bool fits =
        type == fb::DType::f32 || (layout == Layout::panels && (type == fb::DType::i32 || type == fb::DType::f64));
    if (!fits || rank < 2)
      return 0;
    uint64_t element = bitsOf(type) / 8,
             matrices = dense / element / uint64_t(dims[rank - 2]) / uint64_t(dims[rank - 1]);
    return matrices * uint64_t(layoutBytes(layout, dims[rank - 2], dims[rank - 1], int64_t(element)));
  }

  tutti_status_t slot(const fb::Slot &s, uint32_t i) {
    uint32_t members = count(root.members());
    if (!s.type() || s.type()->kind() != fb::ValueKind::tensor || s.type()->dtype() > fb::DType::MAX ||
        bitsOf(s.type()->dtype()) == 0 || count(s.type()->dims()) > TUTTI_MAX_RANK)
      return bad("slot", i, "has no usable tensor type");
    int64_t dims[TUTTI_MAX_RANK];
    uint32_t rank = count(s.type()->dims());
    for (uint32_t d = 0; d < rank; ++d) {
      const fb::Extent *extent = s.type()->dims()->Get(d);
      if (count(extent->terms()))
        return bad("slot", i, "has a dimension %u that is not fixed", d);
      dims[d] = extent->base();
    }
    if (s.segment() >= count(root.segments()))
      return bad("slot", i, "lies in segment %u of %u", s.segment(), count(root.segments()));
    const fb::Segment &segment = *root.segments()->Get(s.segment());
    if (segment.kind() != fb::SegmentKind::weights)
      return bad("slot", i, "lies in segment %u, which is code", s.segment());
    if (parseLayout(view(s.layout())) == Layout::unknown)
      return fail(error, TUTTI_UNSUPPORTED, "slot %u has the layout '%.40s', which this runtime does not know", i,
                  text(s.layout()));
    if (count(s.index()) && count(s.index()) != members)
      return bad("slot", i, "has an index of %u entries for %u members", count(s.index()), members);
    if ((indexBytes += 4 * uint64_t(count(s.index()))) > header.metadataBytes)
      return bad("slot", i, "has an index, which with those before it is longer than the metadata");
    for (uint32_t m = 0; m < count(s.index()); ++m)
      if (s.index()->Get(m) >= members)
        return bad("slot", i, "has copy %u for a member of %u", s.index()->Get(m), members);
    if (s.group() < -1 || s.group() >= int64_t(count(root.groups())))
      return bad("slot", i, "is of group %d of %u", s.group(), count(root.groups()));
    if (s.base() % kLineBytes || s.stride() % kLineBytes)
      return bad("slot", i, "starts at %llu with stride %llu, expected multiples of %llu", ull(s.base()),
                 ull(s.stride()), ull(kLineBytes));
    uint64_t dense, bytes;
    if (!denseBytes(s.type()->dtype(), dims, rank, dense) ||
        (bytes = copyBytes(s, dims, rank, dense, segment.bytes()), (bytes == 0) != (dense == 0)) ||
        bytes > s.bytes_each())
      return bad("slot", i, "has %llu bytes a copy, which its type and layout do not fit", ull(s.bytes_each()));
    uint64_t copies = copiesOf(s, members), stretch, end;
    if (s.per_member() && s.stride() != 0 && s.stride() < s.bytes_each())
      return bad("slot", i, "has copies of %llu bytes, %llu apart", ull(s.bytes_each()), ull(s.stride()));
    if (__builtin_mul_overflow(copies - 1, s.stride(), &stretch) || __builtin_add_overflow(stretch, s.base(), &end) ||
        __builtin_add_overflow(end, s.bytes_each(), &end) || end > segment.bytes())
      return bad("slot", i, "has %llu copies from byte %llu that leave their segment of %llu bytes", ull(copies),
                 ull(s.base()), ull(segment.bytes()));
    return raw(s, i, dense);
  }

  /// Dims of the model file's tensor, of as many bytes as the slot's.
  bool isView(const fb::Slot &s, const flatbuffers::Vector<int64_t> *dims, uint64_t dense) {
    constexpr int64_t none = 0;
    uint64_t bytes;
    return count(dims) <= TUTTI_MAX_RANK && isAligned(dims) &&
           denseBytes(s.type()->dtype(), count(dims) ? dims->data() : &none, count(dims), bytes) && bytes == dense;
  }

  /// The tensor of the model file, where the slot still has one.
  tutti_status_t raw(const fb::Slot &s, uint32_t i, uint64_t dense) {
    if ((count(s.raw_dims()) || s.swappable()) && !isView(s, s.raw_dims(), dense))
      return bad("slot", i, "has %u dims in the model file of another size, or not where 8 bytes may lie",
                 count(s.raw_dims()));
    if (count(s.perm_dims()) && !isView(s, s.perm_dims(), dense))
      return bad("slot", i, "permutes %u dims of another size, or not where 8 bytes may lie", count(s.perm_dims()));
    if (s.swappable() && (!s.per_member() || view(s.name()).empty() || s.part()))
      return bad("slot", i, "is swappable but shared, a part, or without a name");
    uint32_t permuted = count(s.perm_dims()) ? count(s.perm_dims()) : count(s.raw_dims());
    if (count(s.perm()) && count(s.perm()) != permuted)
      return bad("slot", i, "permutes %u dims of %u", count(s.perm()), permuted);
    uint32_t seen = 0;
    for (uint32_t p = 0; p < count(s.perm()); ++p) {
      uint32_t axis = s.perm()->Get(p);
      if (axis >= permuted || (seen >> axis & 1))
        return bad("slot", i, "has no permutation at its perm");
      seen |= 1u << axis;
    }
    return TUTTI_OK;
  }

  const fb::Root &root;
  const FileHeader &header;
  tutti_error_t *error;
  uint64_t segmentBytes = 0, indexBytes = 0, compared = 0; ///< of all so far
};
} // namespace

tutti_status_t checkMetadata(const fb::Root &root, const FileHeader &header, tutti_error_t *error) {
  return Checker(root, header, error).run();
}

} // namespace tutti::rt
