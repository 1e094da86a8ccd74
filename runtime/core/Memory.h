// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Owners of memory that report failure instead of throwing: fixed arrays and mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace tutti::rt {

/// A zeroed array whose length is chosen once. Holds trivial types only, so that freeing it is all there is to do.
template <typename T> class Array {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

public:
  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { std::free(items); }

  /// False when there is not enough memory; the array is then empty.
  [[nodiscard]] bool allocate(size_t n) {
    std::free(items);
    items = static_cast<T *>(std::calloc(n ? n : 1, sizeof(T)));
    count = items ? n : 0;
    return items != nullptr;
  }

  T *data() const { return items; }
  size_t size() const { return count; }
  T &operator[](size_t i) const { return items[i]; }
  T *begin() const { return items; }
  T *end() const { return items + count; }

private:
  T *items = nullptr;
  size_t count = 0;
};

/// Owns a run of pages.
class Mapping {
public:
  Mapping() = default;
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping() { reset(); }

  /// Takes over what mmap returned; false, with errno kept, when that was MAP_FAILED.
  [[nodiscard]] bool adopt(void *mapped, size_t n) {
    if (mapped == MAP_FAILED)
      return false;
    reset();
    address = static_cast<char *>(mapped);
    length = n;
    return true;
  }
  /// Maps `n` zero bytes.
  [[nodiscard]] bool allocate(size_t n) {
    n = n ? n : 1;
    return adopt(mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), n);
  }
  void reset() {
    if (address)
      munmap(address, length);
    address = nullptr;
    length = 0;
  }

  char *data() const { return address; }
  size_t size() const { return length; }

private:
  char *address = nullptr;
  size_t length = 0;
};

/// Builds a T with malloc'd memory; null when there is not enough. Destroyed with `dispose`.
template <typename T, typename... Args> T *make(Args &&...args) {
  void *memory = std::aligned_alloc(alignof(T) < 64 ? 64 : alignof(T), (sizeof(T) + 63) / 64 * 64);
  return memory ? new (memory) T(std::forward<Args>(args)...) : nullptr;
}
template <typename T> void dispose(T *object) {
  if (!object)
    return;
  object->~T();
  std::free(object);
}

} // namespace tutti::rt
