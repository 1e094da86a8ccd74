// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: views that check every access, the addresses of their elements, and CUDA's operations on addresses.
#pragma once

#include "tutti/memory.cuh"

namespace tutti {

/// The address of one element, for atomics and for copy instructions; kernel text never dereferences it itself.
template <class T, Space space> struct Address {
  T *at;
  int64_t count; ///< elements from here to the end of the view
  Where where;

  operator Address<const T, space>() const { return {at, count, where}; }
  /// Checks that `bytes` from here on lie in the view.
  void checkExtent(int64_t bytes, uint32_t alignment) const {
    if (bytes > count * int64_t(sizeof(T)))
      fault(Fault::address, "%ld bytes from here on are more than the %ld of the view", bytes,
            count * int64_t(sizeof(T)), where);
    if (reinterpret_cast<uintptr_t>(at) % alignment)
      fault(Fault::alignment, "address %#lx is not a multiple of %ld", reinterpret_cast<uintptr_t>(at), alignment,
            where);
  }
  void check(Access access, int64_t bytes, uint32_t alignment) const {
    checkExtent(bytes, alignment);
    if (space == Space::shared || access != Access::read)
      emulator().access(access, space, at, bytes, alignment, where);
  }
};

/// The result of []: a read where a value is wanted, a write where it is assigned. It must not be kept.
template <class T, Space space> class Reference {
public:
  explicit Reference(Address<T, space> address) : address(address) {}
  Reference(const Reference &) = delete;

  operator Value<T>() && { return read(); }
  Address<T, space> operator&() && { return address; }
  Value<T> operator=(const Value<T> &value) && {
    address.check(Access::write, sizeof(T), alignof(T));
    return *address.at = value;
  }
  Value<T> operator=(Reference &&other) && { return static_cast<Reference &&>(*this) = other.read(); }
  Value<T> operator+=(Value<T> value) && { return static_cast<Reference &&>(*this) = read() + value; }
  Value<T> operator-=(Value<T> value) && { return static_cast<Reference &&>(*this) = read() - value; }
  Value<T> operator*=(Value<T> value) && { return static_cast<Reference &&>(*this) = read() * value; }

private:
  Value<T> read() const {
    address.check(Access::read, sizeof(T), alignof(T));
    return *address.at;
  }
  Address<T, space> address;
};

/// `count` elements at an address. Indices are in elements; a vector of V starts at a multiple of sizeof(V) bytes.
template <class T, Space space> class CheckedView {
public:
  using Element = T;
  Reference<T, space> operator[](int64_t i TUTTI_AND_WHERE) const { return Reference(at(i, 1, where)); }
  /// The elements [first, first + count).
  CheckedView slice(int64_t first, int64_t number TUTTI_AND_WHERE) const {
    if (number)
      (void)at(first, number, where);
    return CheckedView(base + first, number);
  }
  /// An element that tensor cores read by themselves.
  T loadAsync(int64_t i, Where where) const {
    auto address = at(i, 1, where);
    address.check(Access::asyncRead, sizeof(T), alignof(T));
    return *address.at;
  }
  template <class V> V load(int64_t i TUTTI_AND_WHERE) const {
    auto address = at(i, sizeof(V) / sizeof(T), where);
    address.check(Access::read, sizeof(V), alignof(V));
    V value;
    __builtin_memcpy(&value, address.at, sizeof(V));
    return value;
  }
  template <class V> void store(int64_t i, V value TUTTI_AND_WHERE) const {
    auto address = at(i, sizeof(V) / sizeof(T), where);
    address.check(Access::write, sizeof(V), alignof(V));
    __builtin_memcpy(address.at, &value, sizeof(V));
  }
  template <class U = T> Vector2<U> load2(int64_t i TUTTI_AND_WHERE) const { return load<Vector2<U>>(i, where); }
  template <class U = T> Vector4<U> load4(int64_t i TUTTI_AND_WHERE) const { return load<Vector4<U>>(i, where); }
  template <class U = T> void store2(int64_t i, Vector2<U> value TUTTI_AND_WHERE) const { store(i, value, where); }
  template <class U = T> void store4(int64_t i, Vector4<U> value TUTTI_AND_WHERE) const { store(i, value, where); }

protected:
  CheckedView(T *base, int64_t count) : base(base), count(count) {}
  T *base;
  int64_t count;

private:
  Address<T, space> at(int64_t i, int64_t number, Where where) const {
    if (i < 0 || i + number > count)
      fault(Fault::address, "element %ld of a view of %ld", i < 0 ? i : i + number - 1, count, where);
    return {base + i, count - i, where};
  }
};

template <class T> class Global : public CheckedView<T, Space::global> {
  using View = CheckedView<T, Space::global>;

public:
  Global(uint64_t address, int64_t count TUTTI_AND_WHERE) : View(reinterpret_cast<T *>(address), count) {
    emulator().view(Space::global, reinterpret_cast<T *>(address), count * int64_t(sizeof(T)), alignof(T), where);
  }
  Global(View view) : View(view) {}
};

template <class T> const Global<T> &known(const Global<T> &view) { return view; }

template <class T> class Shared : public CheckedView<T, Space::shared> {
  using View = CheckedView<T, Space::shared>;

public:
  Shared(T *base, int64_t count, Where where) : View(base, count) {
    emulator().view(Space::shared, base, count * int64_t(sizeof(T)), alignof(T), where);
  }
  Shared(View view) : View(view) {}
  /// A view of as many elements at place(base).
  template <class F> Shared moved(F place) const {
    Shared there = *this;
    there.base = place(there.base);
    return there;
  }
};

/// The block's dynamic shared memory from `byteOffset` on, seen as `count` elements. There is no other shared memory.
template <class T> Shared<T> shared(int byteOffset, int count TUTTI_AND_WHERE) {
  return Shared<T>(reinterpret_cast<T *>(emulator().shared() + byteOffset), count, where);
}

} // namespace tutti

template <class T, tutti::Space space> T atomicAdd(tutti::Address<T, space> address, tutti::Same<T> value) {
  static_assert(T(1) / 2 == T(0), "an atomic on floats depends on the order of the threads");
  address.check(tutti::Access::atomic, sizeof(T), sizeof(T));
  T old = *address.at;
  *address.at = old + value;
  return old;
}
