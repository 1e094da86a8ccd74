// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the CPU's features by cpuid, and by xgetbv what the operating system saves.
#include "Level.h"

#include "runtime/schema/Levels.h"

#include <cpuid.h>

namespace tutti::rt {

static constexpr const char *names[] = {"none", kCpuTargets[0].level, kCpuTargets[1].level, kLevelWithBytes};

Level levelNamed(std::string_view target) {
  for (Level level : {Level::v3, Level::v4, Level::v4Vnni})
    if (target == nameOf(level))
      return level;
  return Level::none;
}

const char *nameOf(Level level) { return names[static_cast<uint8_t>(level)]; }

static uint64_t savedState() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

Level levelOfThisCpu() {
  auto has = [](uint32_t reg, uint32_t bits) { return (reg & bits) == bits; };
  uint32_t a, b, c, d;
  constexpr uint32_t fma = 1u << 12, movbe = 1u << 22, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, fma | movbe | osxsave | avx | f16c))
    return Level::none;
  constexpr uint64_t ymmState = 0x6, zmmState = 0xe6;
  uint64_t saved = savedState();
  if ((saved & ymmState) != ymmState)
    return Level::none;
  constexpr uint32_t lzcnt = 1u << 5;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, lzcnt))
    return Level::none;
  constexpr uint32_t bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, bmi1 | avx2 | bmi2))
    return Level::none;
  constexpr uint32_t f = 1u << 16, dq = 1u << 17, cd = 1u << 28, bw = 1u << 30, vl = 1u << 31;
  constexpr uint32_t vnni = 1u << 11;
  bool wide = has(b, f | dq | cd | bw | vl) && (saved & zmmState) == zmmState;
  return !wide ? Level::v3 : has(c, vnni) ? Level::v4Vnni : Level::v4;
}

} // namespace tutti::rt
