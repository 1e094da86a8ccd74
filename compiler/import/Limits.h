// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The most that a model may have of each thing. The import refuses, by name, what exceeds a limit before it takes
// memory or time. No known model comes near a limit.
#ifndef TUTTI_COMPILER_IMPORT_LIMITS_H
#define TUTTI_COMPILER_IMPORT_LIMITS_H

#include "runtime/schema/Limits.h"

namespace tutti {

// Limits of any model.

/// Dimensions of a tensor during import: intermediate reshapes may have more than an artifact's ports allow.
constexpr int64_t mostRank = 32;
/// Inputs, and outputs: the runtime's limit.
constexpr int64_t mostPorts = rt::kMaxPorts;
/// Symbols are compared with each other, and a file could force a restart of the import for each.
constexpr int64_t mostSymbols = 256;
/// Functions in functions: the import recurses for each.
constexpr int64_t mostCalls = 64;
/// Groups of unequal members: each has a size of its own, which kernels get as a parameter.
constexpr int64_t mostGroups = 48;
static_assert(mostGroups < rt::kMaxSizes);

// Limits of an ONNX file.

/// Fields and nodes of the file, and depth of messages in messages. Small messages become large objects: a file of
/// nothing else would take many times its size in memory.
constexpr int64_t mostFields = 2'000'000, mostNodes = 250'000, mostMessageDepth = 64;
/// Nodes of functions, branches and loops, counted at each call and step, and their bytes, which are mostly names that
/// every call looks up. All attempts count together: a file of many symbols has many attempts.
constexpr int64_t mostNodesCalled = 500'000, mostBytesCalled = int64_t(512) << 20;
/// Nodes that all attempts together may walk, and full budgets of an attempt that they may spend.
constexpr int64_t mostWalked = 500'000, mostBudgets = 2;
/// Ops that all attempts together may build from the nodes: for some nodes a number in the file decides how many.
constexpr int64_t mostMade = 1 << 20;
/// Inputs, and outputs, of a node: the number of ops built from it grows faster than they do.
constexpr int64_t mostOperands = 4096;
/// Axes of an image, and places along one.
constexpr int64_t mostAxes = 3, mostLength = 1 << 20;
/// Steps of a loop or of a recurrent op, which are unrolled into the model.
constexpr int64_t mostSteps = 4096;
/// Tensors of a sequence: mapping one takes a step for each.
constexpr int64_t mostTensors = mostSteps;
/// Kinds of unsupported ops that are reported: each new one is compared with all of them.
constexpr int64_t mostFindings = 256;

// Limits of a safetensors file.

/// Bytes of the header: the reference implementation reads none that is longer.
constexpr int64_t mostHeader = 100'000'000;
/// Weights reported as misfits: each takes a search through names.
constexpr int64_t mostMisfits = 64;

// Limits of an MLIR file.

/// Nested brackets: the parser recurses for each.
constexpr int64_t mostNesting = 200;
/// Errors of the parser that are shown.
constexpr int64_t mostDiagnostics = 16;
/// Members: the runtime's limit. Sources: all their weights, each of which is an object of the compiler.
constexpr int64_t mostMembers = rt::kMaxMembers, mostSources = 1 << 20;
/// Ops, those of mapped functions counted at each use: few functions that map each other yield many.
constexpr int64_t mostOps = 1 << 14;
/// Elements of a tensor, so that its bytes can be counted.
constexpr int64_t mostElements = int64_t(1) << 44;
/// Elements spelled out in the text: the parser takes many bytes for each.
constexpr int64_t mostWritten = int64_t(1) << 24;

} // namespace tutti

#endif
