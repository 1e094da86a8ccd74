// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: the handlers that clang's undefined-behaviour sanitizer calls when arithmetic or a local array of kernel
// text goes wrong.
#pragma once

#include "tutti/host_image.cuh"

namespace tutti {
/// The beginning of every report of the sanitizer.
struct SanitizerSite {
  const char *file;
  uint32_t line, column;
};
} // namespace tutti

// The handlers of compiler-rt's ubsan_handlers.h; they are given the place, then the operands.
#define TUTTI_SANITIZER(text, name, ...)                                                                               \
  extern "C" __attribute__((used)) inline void __ubsan_handle_##name(const tutti::SanitizerSite *site __VA_OPT__(, )   \
                                                                         __VA_ARGS__) {                                \
    tutti::fault(tutti::Fault::failure, text, 0, 0, {site->file, int(site->line)});                                    \
  }
TUTTI_SANITIZER("an index outside of a local array", out_of_bounds, uintptr_t)
TUTTI_SANITIZER("a signed sum that overflows", add_overflow, uintptr_t, uintptr_t)
TUTTI_SANITIZER("a signed difference that overflows", sub_overflow, uintptr_t, uintptr_t)
TUTTI_SANITIZER("a signed product that overflows", mul_overflow, uintptr_t, uintptr_t)
TUTTI_SANITIZER("a signed negation that overflows", negate_overflow, uintptr_t)
TUTTI_SANITIZER("an integer division by zero, or one that overflows", divrem_overflow, uintptr_t, uintptr_t)
TUTTI_SANITIZER("a shift by more than the type's bits", shift_out_of_bounds, uintptr_t, uintptr_t)
TUTTI_SANITIZER("a float that does not fit the integer it is cast to (see __float2ll_rz)", float_cast_overflow,
                uintptr_t)
TUTTI_SANITIZER("a place that is declared unreachable", builtin_unreachable)
TUTTI_SANITIZER("a function that ends without a value", missing_return)
#undef TUTTI_SANITIZER
