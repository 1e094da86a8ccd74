// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of the artifact's CPU code this machine can run.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::rt {

/// Levels in rising order; a CPU of one level runs the code of all below it.
enum class Level : uint8_t { none, v3, v4, v4Vnni };

/// "x86-64-v3" (AVX2, FMA, BMI, F16C), "x86-64-v4" (AVX-512 F, BW, DQ, VL, CD), "x86-64-v4+avx512vnni" (products of
/// bytes, too); none for any other name.
Level levelNamed(std::string_view target);
const char *nameOf(Level level);

/// What this CPU and its operating system support.
Level levelOfThisCpu();

} // namespace tutti::rt
