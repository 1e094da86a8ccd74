// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XXH64 (Yann Collet's specification, seed 0): the digest of every region of an artifact and of every model file.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti::rt {

/// Hashes a stream of bytes given in pieces of any length: update(...) as often as needed, then finish().
class Digest {
public:
  void update(const void *data, size_t bytes) {
    const auto *p = static_cast<const unsigned char *>(data);
    total += bytes;
    if (held && bytes) {
      size_t take = std::min(bytes, sizeof(hold) - held);
      std::memcpy(hold + held, p, take);
      held += take, p += take, bytes -= take;
      if (held < sizeof(hold))
        return;
      stripe(hold);
      held = 0;
    }
    for (; bytes >= sizeof(hold); bytes -= sizeof(hold), p += sizeof(hold))
      stripe(p);
    if (bytes)
      std::memcpy(hold, p, held = bytes);
  }

  uint64_t finish() const {
    uint64_t h = p5;
    if (total >= sizeof(hold)) {
      h = std::rotl(acc[0], 1) + std::rotl(acc[1], 7) + std::rotl(acc[2], 12) + std::rotl(acc[3], 18);
      for (uint64_t a : acc)
        h = (h ^ round(0, a)) * p1 + p4;
    }
    h += total;
    const unsigned char *p = hold, *end = hold + held;
    for (; end - p >= 8; p += 8)
      h = std::rotl(h ^ round(0, load<uint64_t>(p)), 27) * p1 + p4;
    for (; end - p >= 4; p += 4)
      h = std::rotl(h ^ (load<uint32_t>(p) * p1), 23) * p2 + p3;
    for (; p < end; ++p)
      h = std::rotl(h ^ (*p * p5), 11) * p1;
    h = (h ^ (h >> 33)) * p2;
    h = (h ^ (h >> 29)) * p3;
    return h ^ (h >> 32);
  }

private:
  static constexpr uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F, p3 = 0x165667B19E3779F9,
                            p4 = 0x85EBCA77C2B2AE63, p5 = 0x27D4EB2F165667C5;

  template <typename T> static T load(const unsigned char *p) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
  }
  static uint64_t round(uint64_t a, uint64_t in) { return std::rotl(a + in * p2, 31) * p1; }
  void stripe(const unsigned char *p) {
    for (int i = 0; i < 4; ++i)
      acc[i] = round(acc[i], load<uint64_t>(p + 8 * i));
  }

  uint64_t acc[4] = {p1 + p2, p2, 0, 0 - p1};
  uint64_t total = 0;
  unsigned char hold[32] = {};
  size_t held = 0;
};

/// XXH64 of `bytes` bytes at `data`.
inline uint64_t xxh64(const void *data, size_t bytes) {
  Digest digest;
  digest.update(data, bytes);
  return digest.finish();
}

} // namespace tutti::rt
