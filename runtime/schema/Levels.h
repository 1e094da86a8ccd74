// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The levels of CPUs that code is compiled for.
#pragma once

namespace tutti::rt {

/// A level as --target names it, and as the artifact does (x86-64 psABI, "Micro-Architecture Levels"), from the lowest
/// on. An image may be for a level and a feature beside it ("x86-64-v4+avx512vnni").
struct CpuTarget {
  const char *flag, *level;
};
inline constexpr CpuTarget kCpuTargets[] = {{"cpu-v3", "x86-64-v3"}, {"cpu-avx512", "x86-64-v4"}};

} // namespace tutti::rt
