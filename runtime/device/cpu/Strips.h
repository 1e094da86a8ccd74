// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches one after the other over a few rows of one member, whose values stay in a cache in between.
#pragma once

#include "../../core/Call.h"
#include "../../core/Check.h"

namespace tutti::rt {

/// Launches mix nothing of members, and often nothing along one axis of the call (Program.strips). They may run strip
/// by strip then: each of them for one member and, with an axis, some places of it, then each for the next ones. A
/// thread takes strips of its own, waits for no other, and has what the launches make for each other in an area of the
/// arena that its second cache holds. The bits are the same: to a kernel a strip is a call of one member and fewer
/// rows.
class Strips {
public:
  /// A call goes through the launches that all members share, then through those of the members, then through those
  /// that read all members. Each of the first two may run in strips.
  enum Phase : uint8_t { shared, members, heads, numPhases };

  /// Takes memory for what depends on the program alone; false when there is not enough.
  [[nodiscard]] bool build(const Call &call, uint32_t threads);
  /// The sizes have changed. Whether some phase runs in strips, and so the call by phases.
  bool choose(const Call &call, uint32_t threads);

  bool chosen() const { return runs[shared].strips || runs[members].strips; }
  Phase phaseOf(uint32_t launch) const { return phases[launch]; }
  /// How many strips a phase has; 0: it runs as other calls do.
  int64_t numStrips(Phase phase) const { return runs[phase].strips; }
  bool isLast(Phase phase, int64_t strip) const { return strip % runs[phase].ofMember == runs[phase].ofMember - 1; }
  /// What kernels get as sizes in a strip: in the last one of a member, or in any other.
  const int64_t *sizesOf(Phase phase, bool last) const { return runs[phase].sizes[last]; }
  /// Whether a buffer lies in the threads' areas.
  bool isLocal(uint32_t buffer) const { return uses[buffer].local >= 0; }
  /// The arguments of the phase's launches in a strip, on a thread; they lie there as in `Call::words`.
  uint64_t *argumentsOf(const Call &call, Phase phase, uint32_t thread, int64_t strip);

private:
  /// A phase, if it runs in strips.
  struct Run {
    int64_t strips, ofMember, length; ///< length: the places of a strip
    int64_t areas, areaBytes;         ///< where the threads' areas begin in the arena, and how long each is
    int64_t sizes[2][kMaxSizes];
  };
  /// How launches use a buffer.
  struct Use {
    int32_t made = -1;             ///< the phase that makes what is in it, if launches do; else -1
    int32_t only = -1;             ///< the one phase that uses it, if it is in the arena; else -1
    int64_t each = 0;              ///< bytes of one place, of one member
    int64_t member = 0;            ///< how much further a strip's part begins for each member, in bytes
    int64_t place = 0;             ///< and for each place
    int64_t local = -1;            ///< where it lies in a thread's area; -1: where it lies in other calls
    int64_t start = 0, end = 0;    ///< where it lies at the largest sizes, if it is in the arena
    int64_t before = 0;            ///< how many of the same phase alone begin before it
    int64_t first = -1, last = -1; ///< when it is used, in the order of phases
  };

  bool classify(const Call &call);
  bool measure(const Call &call);
  bool cut(const Call &call, uint32_t threads, Phase phase);
  bool layOut(Phase phase);
  bool place(const Call &call, uint32_t threads);
  bool pays(const Call &call, Phase phase) const;

  /// The places along the axis; without one, all is one place.
  int64_t placesOf(const Call &call) const;

  bool possible = false; ///< at some sizes
  uint32_t axis = 0;     ///< the size that counts the axis' places; 0: there is none
  Run runs[numPhases] = {};
  Array<Phase> phases; ///< by launch
  Array<Use> uses;     ///< by buffer
  Sizes most;          ///< the largest
  Array<uint64_t> words;
  size_t wordsEach = 0; ///< of a thread
};

} // namespace tutti::rt
