// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Filling in a tutti_error_t.
#pragma once

#include "runtime/support/Text.h"
#include "tutti/tutti.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace tutti::rt {

/// Writes the message, if there is somewhere to write it to, and returns `status`. What of it is not to be printed,
/// as names out of files may have it, is written as '?'.
[[gnu::format(printf, 3, 4)]] inline tutti_status_t fail(tutti_error_t *error, tutti_status_t status,
                                                         const char *format, ...) {
  if (error) {
    error->status = status;
    va_list args;
    va_start(args, format);
    std::vsnprintf(error->message, sizeof(error->message), format, args);
    va_end(args);
    for (char *at = error->message; *at;) {
      size_t bytes = printableBytes(at);
      if (bytes == 0)
        *at = '?';
      at += bytes ? bytes : 1;
    }
  }
  return status;
}

/// Text of bounded length: what is too long is cut.
template <size_t N> struct Line {
  char text[N] = {};
  size_t used = 0;
  [[gnu::format(printf, 2, 3)]] void append(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = std::vsnprintf(text + used, N - used, format, args);
    va_end(args);
    used = std::min(used + size_t(std::max(n, 0)), N - 1);
  }
};

/// An enumerator that a caller gave: C lets it be any number, C++ does not even let us look.
template <typename Enum> uint32_t rawOf(const Enum &value) {
  uint32_t raw;
  static_assert(sizeof(raw) == sizeof(value));
  std::memcpy(&raw, &value, sizeof(raw));
  return raw;
}

inline tutti_status_t outOfMemory(tutti_error_t *error, const char *what, uint64_t bytes) {
  return fail(error, TUTTI_OUT_OF_MEMORY, "not enough memory for %s: %llu bytes", what,
              static_cast<unsigned long long>(bytes));
}

} // namespace tutti::rt
