// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that depend on the sizes of a call, evaluated with overflow checks.
#pragma once

#include "runtime/schema/artifact_generated.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace tutti::rt {

inline bool checkedAdd(int64_t a, int64_t b, int64_t &sum) { return !__builtin_add_overflow(a, b, &sum); }
inline bool checkedMul(int64_t a, int64_t b, int64_t &product) { return !__builtin_mul_overflow(a, b, &product); }

/// Entries of a FlatBuffers vector that may be missing.
template <typename Vector> uint32_t count(const Vector *vector) { return vector ? vector->size() : 0; }

/// What FlatBuffers' verifier leaves open: it looks at the length's alignment.
inline bool isAligned(const flatbuffers::Vector<int64_t> *vector) {
  return !count(vector) || reinterpret_cast<uintptr_t>(vector->data()) % alignof(int64_t) == 0;
}

inline const char *text(const flatbuffers::String *string) { return string ? string->c_str() : ""; }
inline std::string_view view(const flatbuffers::String *string) {
  return string ? std::string_view(string->c_str(), string->size()) : std::string_view();
}

/// Factors of a term; more are refused, since terms may share them.
inline constexpr uint32_t kMaxFactors = 64;

/// The value of `extent` (none: 0) at `sizes`; false on overflow. The extent has passed isSound.
inline bool evaluate(const fb::Extent *extent, const int64_t *sizes, int64_t &value) {
  value = 0;
  if (!extent)
    return true;
  value = extent->base();
  for (uint32_t t = 0; t < count(extent->terms()); ++t) {
    const fb::Term *term = extent->terms()->Get(t);
    int64_t product = term->coef();
    for (uint32_t i = 0; i < count(term->sizes()); ++i) {
      int64_t factor = sizes[term->sizes()->Get(i)];
      if (int64_t div = count(term->divs()) ? term->divs()->Get(i) : 1; div != 1)
        factor = factor / div + (factor % div != 0);
      if (!checkedMul(product, factor, product))
        return false;
    }
    if (!checkedAdd(value, product, value))
      return false;
  }
  return true;
}

/// The same for an extent and sizes that are known not to overflow.
inline int64_t valueOf(const fb::Extent *extent, const int64_t *sizes) {
  int64_t value = 0;
  evaluate(extent, sizes, value);
  return value;
}

/// Whether indices are in range and the extent never falls when a size grows.
inline bool isSound(const fb::Extent *extent, uint32_t numSizes) {
  if (!extent)
    return true;
  for (uint32_t t = 0; t < count(extent->terms()); ++t) {
    const fb::Term *term = extent->terms()->Get(t);
    if (!term || term->coef() < 0)
      return false;
    uint32_t divs = count(term->divs());
    if (count(term->sizes()) > kMaxFactors || (divs && divs != count(term->sizes())) || !isAligned(term->divs()))
      return false;
    for (uint32_t i = 0; i < count(term->sizes()); ++i)
      if (term->sizes()->Get(i) >= numSizes || (divs && term->divs()->Get(i) < 1))
        return false;
  }
  return true;
}

/// The launches of a step: one, or several that need nothing of each other; none of a step of another kind.
inline uint32_t numLaunches(const fb::Step &step) {
  const fb::Parallel *parallel = step.command_as_Parallel();
  return parallel ? count(parallel->launches()) : step.command_as_Launch() != nullptr;
}
inline const fb::Launch &launchOf(const fb::Step &step, uint32_t i) {
  const fb::Parallel *parallel = step.command_as_Parallel();
  return parallel ? *parallel->launches()->Get(i) : *step.command_as_Launch();
}
/// Calls see(launch, step) for every launch of a program, until one call returns something.
template <typename See>
auto forEachLaunch(const fb::Program &program, See see) -> decltype(see(std::declval<const fb::Launch &>(), 0u)) {
  for (uint32_t i = 0; i < count(program.steps()); ++i)
    for (uint32_t l = 0; l < numLaunches(*program.steps()->Get(i)); ++l)
      if (auto result = see(launchOf(*program.steps()->Get(i), l), i))
        return result;
  return {};
}

} // namespace tutti::rt
