// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A first look at many results at once, four doubles a time, so that all floats can be gone through.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

/// The places i of got[i] = op(x[i]), i < n (a multiple of 4), whose error may be above `limit` units of the last
/// place, and of results that are zero, infinite, or a NaN where only one is. By glibc's vector libm in double; all
/// places where there is none for the op.
std::vector<int64_t> suspects(const std::string &op, const float *x, const float *got, int64_t n, double limit);

} // namespace tutti
