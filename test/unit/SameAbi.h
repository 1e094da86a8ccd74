// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations of the CUDA driver in a namespace `ours` beside those of the toolkit's headers: where one differs the
// test does not compile.
#pragma once

#include <cstddef>

#define SAME_SIZE(type) static_assert(sizeof(ours::type) == sizeof(::type) && alignof(ours::type) <= alignof(::type))
#define SAME_PLACE(type, member)                                                                                       \
  static_assert(offsetof(ours::type, member) == offsetof(::type, member) &&                                            \
                sizeof(ours::type::member) == sizeof(::type::member))
#define SAME_VALUE(name) static_assert(int(ours::name) == int(::name))
