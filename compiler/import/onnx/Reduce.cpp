// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of reductions.
#include "compiler/import/onnx/Ops.h"

using namespace mlir;

namespace tutti {

/// Axes are an attribute before opset `since`, an input from then on; none means all.
static void reduction(Node &n, ReduceKind kind, int64_t since) {
  Operand x = n.in(0);
  if (!x)
    return;
  bool given;
  SmallVector<int64_t> listed = n.axesOf("axes", 1, since, given);
  bool keep = n.intAttr("keepdims", 1) != 0;
  bool emptyIsNone = n.opset >= since && n.intAttr("noop_with_empty_axes", 0) != 0;
  if (n.emit.failed())
    return;
  std::optional<SmallVector<int64_t>> axes;
  if (listed.empty() && !emptyIsNone)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  else
    axes = n.axes(listed, x.rank());
  if (axes)
    n.set(0, n.emit.reduce(kind, x, *axes, keep));
}

void importReduceMax(Node &n) { reduction(n, ReduceKind::max, 18); }
void importReduceMean(Node &n) { reduction(n, ReduceKind::mean, 18); }
void importReduceMin(Node &n) { reduction(n, ReduceKind::min, 18); }
void importReduceSum(Node &n) { reduction(n, ReduceKind::sum, 13); }

} // namespace tutti
