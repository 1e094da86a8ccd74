// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Global and shared memory as views: plain pointers on CUDA, checked at every access on the emulated device.
#pragma once

#include "tutti/base.cuh"

namespace tutti {

/// Keeps loads before this point from being moved to where their results are used, so that they wait together.
__device__ __forceinline__ void keepLoadsBefore() {
#if TUTTI_ON_DEVICE
  asm volatile("" ::: "memory");
#endif
}

/// Prefetches an element of global memory: its 32 bytes are in a cache when it is read; on an H200 in L2 only.
template <class Pointer> __device__ __forceinline__ void prefetch([[maybe_unused]] Pointer element) {
#if TUTTI_ON_DEVICE
  asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(element)));
#endif
}

/// Keeps a value in a register, so that it is not recomputed: reading a special register takes time.
__device__ __forceinline__ int kept(int value) {
#if TUTTI_ON_DEVICE
  asm volatile("" : "+r"(value));
#endif
  return value;
}

template <class T> struct VectorsOf;
#define TUTTI_VECTORS(T, name)                                                                                         \
  template <> struct VectorsOf<T> {                                                                                    \
    using Two = name##2;                                                                                               \
    using Four = name##4;                                                                                              \
  };
TUTTI_VECTORS(float, float)
TUTTI_VECTORS(int, int)
TUTTI_VECTORS(unsigned, uint)
TUTTI_VECTORS(short, short)
TUTTI_VECTORS(unsigned short, ushort)
TUTTI_VECTORS(signed char, char)
TUTTI_VECTORS(unsigned char, uchar)
#undef TUTTI_VECTORS
/// float2 of float, and so on.
template <class T> using Vector2 = typename VectorsOf<Value<T>>::Two;
/// float4 of float, and so on.
template <class T> using Vector4 = typename VectorsOf<Value<T>>::Four;

} // namespace tutti

#if TUTTI_ON_DEVICE

namespace tutti {

/// `count` elements at an address. Indices are in elements; a vector of V starts at a multiple of sizeof(V) bytes.
template <class T> class View {
public:
  using Element = T;
  __device__ __forceinline__ View(T *base, int64_t) : base(base) {}

  template <class I> __device__ __forceinline__ T &operator[](I i) const { return base[i]; }
  /// The elements [first, first + count).
  template <class I> __device__ __forceinline__ View slice(I first, int64_t count) const {
    return View(base + first, count);
  }
  template <class V, class I> __device__ __forceinline__ V load(I i) const {
    return *reinterpret_cast<const V *>(base + i);
  }
  template <class V, class I> __device__ __forceinline__ void store(I i, V value) const {
    *reinterpret_cast<V *>(base + i) = value;
  }
  template <class I, class U = T> __device__ __forceinline__ Vector2<U> load2(I i) const { return load<Vector2<U>>(i); }
  template <class I, class U = T> __device__ __forceinline__ Vector4<U> load4(I i) const { return load<Vector4<U>>(i); }
  template <class I, class U = T> __device__ __forceinline__ void store2(I i, Vector2<U> value) const {
    store(i, value);
  }
  template <class I, class U = T> __device__ __forceinline__ void store4(I i, Vector4<U> value) const {
    store(i, value);
  }

protected:
  T *base;
};

template <class T> class Global : public View<T> {
public:
  __device__ __forceinline__ Global(uint64_t address, int64_t count) : View<T>(reinterpret_cast<T *>(address), count) {
    __builtin_assume(__isGlobal(this->base)); // also of addresses from a table
  }
  __device__ __forceinline__ Global(View<T> view) : View<T>(view) {}
};

/// Tells the compiler again that a view lies in global memory: it forgets this of one selected from several.
template <class T> __device__ __forceinline__ Global<T> known(const Global<T> &view) {
  return Global<T>(reinterpret_cast<uint64_t>(&view[0]), 0);
}

template <class T> class Shared : public View<T> {
public:
  __device__ __forceinline__ Shared(View<T> view) : View<T>(view) {}
};

/// The block's dynamic shared memory from `byteOffset` on, seen as `count` elements. There is no other shared memory.
template <class T> __device__ __forceinline__ Shared<T> shared(int byteOffset, int count) {
  extern __shared__ __align__(1024) unsigned char tuttiShared[];
  return View<T>(reinterpret_cast<T *>(tuttiShared + byteOffset), count);
}

} // namespace tutti

#else
#include "tutti/host_memory.cuh"
#endif
