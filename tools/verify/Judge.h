// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a compiled result is as close to float64 as it has to be (docs/numerics.md, "What tutti-verify holds us to").
#ifndef TUTTI_TOOLS_VERIFY_JUDGE_H
#define TUTTI_TOOLS_VERIFY_JUDGE_H

#include "Reference.h"

namespace tutti {

/// One tensor, or one member's part of it. Errors are 2-norms, relative to the reference's norm.
struct Verdict {
  int64_t elements = 0;
  int64_t undecided = 0; ///< elements that hang on a choice which float32 cannot decide; not compared
  int64_t different = 0; ///< integers, bools, NaNs and infinities that are not the reference's
  double error = 0;      ///< ours
  double plain = 0;      ///< plain float32's
  double perturbed = 0;  ///< plain float32's on numbers that are off by a rounding each
  double bound = 0;      ///< the largest that ours may be
  double largest = 0;    ///< the largest absolute error of an element
  bool ok = true;
  /// Whether it says nothing: every element hangs on a choice.
  bool comparesNothing() const { return ok && undecided == elements; }
};

/// `got` has the answer's type and shape. `usual` is an error of plain float32 on more of the same kind: where luck
/// has made its error here smaller, that one counts.
Verdict judge(const HostTensor &got, const Answer &answer, double usual = 0);

/// An output under a head.
struct Row {
  std::string name, head, dtype;
  Verdict whole;
  std::vector<uint32_t> active; ///< of the head `members`, which member each verdict is of
  std::vector<Verdict> members;

  bool ok() const {
    return whole.ok && llvm::all_of(members, [](const Verdict &member) { return member.ok; });
  }
  /// The position of the member nearest to its bound, or farthest beyond.
  size_t worst() const;
};

/// One op of the model, on the values that float64 has for it, rounded to their types.
struct OpRow {
  std::string op;   ///< "contract"
  std::string node; ///< "node 'linear_2' (Gemm)"
  Verdict verdict;
};

/// Judges an output, and for `members` also each member.
Row judge(const HostTensor &got, const Answer &answer, std::string name, std::string head, std::string dtype,
          llvm::ArrayRef<uint32_t> active);

} // namespace tutti

#endif
