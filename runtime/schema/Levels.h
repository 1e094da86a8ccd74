// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The levels of CPUs that code is compiled for.
#pragma once

namespace tutti::rt {

/// A level as --target names it, and as the artifact does (x86-64 psABI, "Micro-Architecture Levels"), from the lowest
/// on.
struct CpuTarget {
  const char *flag, *level;
};
inline constexpr CpuTarget kCpuTargets[] = {{"cpu-v3", "x86-64-v3"}, {"cpu-avx512", "x86-64-v4"}};
/// An image may be for the last level and a feature beside it: products of bytes.
inline constexpr const char *kLevelWithBytes = "x86-64-v4+avx512vnni";

} // namespace tutti::rt
