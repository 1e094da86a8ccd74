// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the model files say must come out: in float64, and in the plain float32 that ours is measured by.
#ifndef TUTTI_TOOLS_VERIFY_REFERENCE_H
#define TUTTI_TOOLS_VERIFY_REFERENCE_H

#include "compiler/import/Member.h"
#include "dialects/tutti/Tutti.h"

#include <cmath>

namespace tutti {

/// A value of the reference. All its tensors have one type and shape.
struct Answer {
  HostTensor exact; ///< float64
  /// float32 as the ops are written: every op rounded, a contraction one ascending fma chain, over operands that are
  /// rounded first where the precision says so (Precision.h)
  HostTensor plain;
  /// float64 with every choice (a comparison, a vote ...) that float32 cannot decide taken the other way
  HostTensor other;
  /// plain with float64's choices and every number that is computed with off by a rounding (Perturbed.h); plain itself
  /// where it has many errors
  HostTensor perturbed;
  bool contracts = false; ///< contractions dominate (Dominance)
  /// Unit roundoff of the precision that `plain` is of, 0 for float32.
  double unit = 0;
  /// Numbers with errors of their own that all of it is made of, as far as the graph says: the sums of 7 rows that are
  /// multiplied by many weights have 7.
  double independent = HUGE_VAL;
};

/// How it is found out whether contractions dominate a result: at least half of the operations behind it are theirs or,
/// which takes an evaluation more, at least half of the squared error of `plain`.
enum class Dominance { byOperations, byErrors };

/// Puts in place of each tutti.vmap of a model, or of an ensemble before the member axis, the ops that it stands for.
llvm::Error resolveVmaps(mlir::ModuleOp module);
/// As importMember, without vmaps.
llvm::Expected<MemberModel> importForReference(mlir::MLIRContext &context, const MemberFiles &files,
                                               const ImportOptions &options, const Ports *expected, unsigned index);

/// Whether the op's result has numbers that its operands do not have: it does more than move elements.
bool computes(mlir::Operation &op);

/// An input of the ensemble: the same in all.
Answer given(HostTensor tensor);

/// The function's results at a precision. Sizes follow from the operands.
llvm::Expected<std::vector<Answer>> answer(mlir::func::FuncOp function, llvm::ArrayRef<Answer> operands,
                                           const std::function<HostTensor(llvm::StringRef)> &param = {},
                                           Precision precision = Precision::f32,
                                           Dominance dominance = Dominance::byOperations);
/// One member's outputs, from its file alone: the compiler's alignment and sharing have no part in it.
llvm::Expected<std::vector<Answer>> answer(const MemberModel &model, llvm::ArrayRef<Answer> inputs, Precision precision,
                                           Dominance dominance);

/// One tensor of all members' own, with the member axis in front; they are taken from `members` one by one.
Answer stack(std::vector<Answer> members);
/// Member `position` of a stacked tensor.
HostTensor unstack(const HostTensor &tensor, int64_t position);
/// The answer under a head as tutti-compile spells it: "mean", "quantile:0.9" ...
llvm::Expected<Answer> underHead(mlir::MLIRContext &context, const Answer &members, llvm::StringRef head);

} // namespace tutti

#endif
