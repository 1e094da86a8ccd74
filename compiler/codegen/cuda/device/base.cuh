// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Basics of all headers of kernel text: integers, and on the host the words that CUDA's compiler knows by itself.
#pragma once

#include "tutti/integers.cuh"
#if !TUTTI_ON_DEVICE
#include "tutti/host.cuh"
#include "tutti/host_math.cuh"
#endif

namespace tutti {

template <class T> struct RemoveConst {
  using Type = T;
};
template <class T> struct RemoveConst<const T> {
  using Type = T;
};
/// T without const.
template <class T> using Value = typename RemoveConst<T>::Type;
template <class T, class U> struct IsSame {
  static constexpr bool value = false;
};
template <class T> struct IsSame<T, T> {
  static constexpr bool value = true;
};
template <class T> struct SameType {
  using Type = T;
};
/// T as a parameter's type from which the compiler must not deduce it.
template <class T> using Same = typename SameType<T>::Type;

} // namespace tutti
