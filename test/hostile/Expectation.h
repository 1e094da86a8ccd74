// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of a program as it has to go: the order of its launches, and what each may touch.
#pragma once

#include "core/Check.h"
#include "core/Geometry.h"
#include "device/cpu/Strips.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace tutti::rt::test {

/// Of what is larger, the ends are touched.
constexpr int64_t kMostTouched = 1 << 14;
/// FakeDriver::multiprocessors, resident and clusters.
constexpr uint32_t kMultiprocessors = 100, kResident = 2, kClusters = 16;

[[noreturn]] [[gnu::format(printf, 1, 2)]] inline void wrong(const char *format, ...) {
  va_list args;
  va_start(args, format);
  std::vfprintf(stderr, format, args);
  va_end(args);
  std::fputc('\n', stderr);
  std::abort();
}

/// Of a buffer at such sizes; a port's are those of its dims, whatever its buffer says.
inline int64_t bytesOf(const fb::Program &program, const fb::Buffer &b, const int64_t *sizes) {
  if (b.space() != fb::Space::input && b.space() != fb::Space::output)
    return valueOf(b.bytes(), sizes);
  const fb::Type &type = *program.ports()->Get(uint32_t(b.port()))->type();
  int64_t elements = 1;
  for (uint32_t d = 0; d < count(type.dims()); ++d)
    elements *= valueOf(type.dims()->Get(d), sizes);
  return (elements * bitsOf(type.dtype()) + 7) / 8;
}

/// Reads every byte, so that a sanitizer sees it.
inline void read(const char *at, int64_t bytes) {
  static volatile uint64_t sink;
  for (; bytes > kMostTouched; at += bytes - kMostTouched / 2, bytes = kMostTouched / 2)
    sink = sink + xxh64(at, kMostTouched / 2);
  sink = sink + xxh64(at, size_t(std::max<int64_t>(bytes, 0)));
}
inline void write(char *at, int64_t bytes) {
  for (; bytes > kMostTouched; at += bytes - kMostTouched / 2, bytes = kMostTouched / 2)
    std::memset(at, 0, kMostTouched / 2);
  std::memset(at, 0, size_t(std::max<int64_t>(bytes, 0)));
}

/// One call of a program: the launches that are to come, in order.
class Expectation {
public:
  Expectation(const fb::Root &root, const fb::Program &program, std::vector<uint32_t> active)
      : root(root), program(program), active(std::move(active)) {}

  /// `sizes` are those of the call.
  void start(const int64_t *sizes) {
    due.clear();
    next = 0;
    std::copy(sizes, sizes + count(program.sizes()), all);
    size_t chunk = program.chunk() ? program.chunk() : active.size();
    for (size_t first = 0; first < active.size(); first += chunk)
      each([&](const fb::Launch &l) { return !l.whole() && (l.lifted() || first == 0); },
           std::span(active).subspan(first, std::min(chunk, active.size() - first)));
    each([](const fb::Launch &l) { return l.whole(); }, active);
  }
  bool done() const { return next == due.size(); }
  int seen() const { return int(next); }

  void onCpu(void *const *args, const int64_t *sizes, int64_t tile, int64_t begin, int64_t end, char *scratch) {
    const Due &launch = take();
    const fb::Launch &l = *launch.launch;
    if (static_cast<const void *>(args + count(l.args())) != sizes)
      wrong("launch %zu of %zu: the sizes are %td words behind the arguments, expected %u", next, due.size(),
            reinterpret_cast<void *const *>(sizes) - args, count(l.args()));
    int64_t rows = valueOf(l.rows(), sizes);
    if (tile < l.row_quantum() || tile > l.row_tile_max() || tile % l.row_quantum() || begin != 0 ||
        end != (l.lifted() ? membersOf(l.set(), launch.piece) : 1) * ((rows + tile - 1) / tile))
      wrong("tasks %lld to %lld of tiles of %lld rows are not all of %lld rows", (long long)begin, (long long)end,
            (long long)tile, (long long)rows);
    write(scratch, int64_t(l.scratch()));
    touch(launch, args, sizes);
  }
  void onDevice(const void *parameters) {
    const Due &launch = take();
    auto *words = static_cast<const char *>(parameters);
    touch(launch, reinterpret_cast<void *const *>(words),
          reinterpret_cast<const int64_t *>(words) + count(launch.launch->args()));
  }

private:
  struct Due {
    const fb::Launch *launch;
    std::span<const uint32_t> piece; ///< of the active members
  };

  uint32_t membersOf(uint32_t set, std::span<const uint32_t> piece) const {
    uint32_t n = 0;
    for (uint32_t g = set - 1, i = 0; set && i < count(root.groups()->Get(g)->members()); ++i)
      n += uint32_t(std::ranges::count(piece, root.groups()->Get(g)->members()->Get(i)));
    return set ? n : uint32_t(piece.size());
  }
  /// The sizes of a piece.
  const int64_t *sizesOf(std::span<const uint32_t> piece) {
    for (uint32_t i = 0; i < count(program.sizes()); ++i) {
      const fb::Size &size = *program.sizes()->Get(i);
      ofPiece[i] = size.kind() == fb::SizeKind::active ? membersOf(i ? size.source() : 0, piece) : all[i];
    }
    return ofPiece;
  }
  template <typename Takes> void each(Takes takes, std::span<const uint32_t> piece) {
    const int64_t *sizes = sizesOf(piece);
    forEachLaunch(program, [&](const fb::Launch &l, uint32_t) {
      uint32_t own = membersOf(l.set(), piece);
      if (takes(l) && (isForCuda(program) ? hasBlocks(l, sizes) : valueOf(l.rows(), sizes) && (own || !l.lifted())))
        due.push_back({&l, piece});
      return false;
    });
  }
  /// Of the geometry that the engine takes on the fake driver's device.
  static bool hasBlocks(const fb::Launch &l, const int64_t *sizes) {
    std::vector<BlockRoom> rooms(numGeometries(l));
    for (uint32_t g = 0; g < rooms.size(); ++g) {
      Geometry geometry = geometryOf(l, g);
      uint64_t together = 1;
      for (uint32_t d = 0; d < count(geometry.cluster); ++d)
        together *= geometry.cluster->Get(d);
      rooms[g] = {kResident, together > 1 ? kClusters * together : kResident * kMultiprocessors};
    }
    uint32_t g = chooseGeometry(l, sizes, uint32_t(rooms.size()), rooms.data(), kMultiprocessors);
    return gridOf(l, geometryOf(l, g), sizes).blocks() != 0;
  }
  const Due &take() {
    if (next == due.size())
      wrong("a launch that is not due");
    return due[next++];
  }

  /// All that the arguments of the launch promise.
  void touch(const Due &launch, void *const *args, const int64_t *sizes) {
    const auto *parts = launch.launch->parts();
    uint32_t part = 0, ends = count(parts) ? parts->Get(0)->args() : 0;
    for (uint32_t a = 0; a < count(launch.launch->args()); ++a) {
      const fb::Arg &arg = *launch.launch->args()->Get(a);
      while (count(parts) && a >= ends)
        ends += parts->Get(++part)->args();
      uint32_t members = membersOf(count(parts) ? parts->Get(part)->set() : launch.launch->set(), launch.piece);
      const fb::Buffer &b = *program.buffers()->Get(uint32_t(arg.buffer()));
      auto *at = static_cast<char *>(args[a]);
      bool written = b.space() != fb::Space::input && b.space() != fb::Space::constant;
      if (b.space() == fb::Space::constant) {
        const fb::Slot &slot = *root.slots()->Get(uint32_t(b.slot()));
        if (!slot.per_member())
          read(at + 0, int64_t(slot.bytes_each()) - valueOf(arg.offset(), sizes));
        for (uint32_t p = 0; slot.per_member() && p < members; ++p)
          read(reinterpret_cast<const char *const *>(at)[p], int64_t(slot.bytes_each()));
        continue;
      }
      int64_t bytes = bytesOf(program, b, sizes) - valueOf(arg.offset(), sizes);
      if (arg.set() < 0) {
        written ? write(at, bytes) : read(at, bytes);
        continue;
      }
      auto *own = reinterpret_cast<char *const *>(at);
      for (uint32_t p = 0; p < members; ++p)
        written ? write(own[p], partOf(b)) : read(own[p], partOf(b));
    }
  }

  /// A member's bytes of a buffer that has room for all active ones, or for a piece of them.
  int64_t partOf(const fb::Buffer &b) {
    size_t members = active.size();
    if (program.chunk() && b.space() == fb::Space::arena && !b.whole())
      members = std::min<size_t>(members, program.chunk());
    return bytesOf(program, b, sizesOf(std::span(active).first(members))) / int64_t(members);
  }

  const fb::Root &root;
  const fb::Program &program;
  std::vector<uint32_t> active;
  std::vector<Due> due;
  size_t next = 0;
  int64_t all[kMaxSizes] = {}, ofPiece[kMaxSizes] = {};
};

} // namespace tutti::rt::test
