// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The most that a model may have of each thing: what is above a limit is refused by name, before it takes memory or
// time. No model that we know comes near one.
#ifndef TUTTI_COMPILER_IMPORT_LIMITS_H
#define TUTTI_COMPILER_IMPORT_LIMITS_H

#include "runtime/schema/Limits.h"

namespace tutti {

// Of any model.

/// Dimensions of a tensor while it is imported: reshapes on the way may have more than what an artifact's ports take.
constexpr int64_t mostRank = 32;
/// Inputs, and outputs: as many as the runtime takes.
constexpr int64_t mostPorts = rt::kMaxPorts;
/// Symbols are compared with each other, and a file could make us begin again for each.
constexpr int64_t mostSymbols = 256;
/// Functions in functions: import calls itself for each.
constexpr int64_t mostCalls = 64;
/// Groups of unequal members: each has a size of its own, which kernels get as a parameter.
constexpr int64_t mostGroups = 48;
static_assert(mostGroups < rt::kMaxSizes);

// Of an ONNX file.

/// Fields and nodes in it, and messages in messages. Small messages become large objects: a file of nothing but those
/// would take many times its size in memory.
constexpr int64_t mostFields = 2'000'000, mostNodes = 250'000, mostMessageDepth = 64;
/// Nodes of functions, branches and loops, counted at each call and step, and their bytes, which are mostly names that
/// every call looks up. They are those of all attempts: a file of many symbols has many.
constexpr int64_t mostNodesCalled = 500'000, mostBytesCalled = int64_t(512) << 20;
/// Nodes that all attempts together may walk through, and how many full budgets of an attempt they may spend.
constexpr int64_t mostWalked = 500'000, mostBudgets = 2;
/// Ops that all attempts together may make of the nodes: for some nodes a number in the file decides how many.
constexpr int64_t mostMade = 1 << 20;
/// Inputs, and outputs, of a node: the number of ops made of it grows faster than they do.
constexpr int64_t mostOperands = 4096;
/// Axes of an image, and places along one.
constexpr int64_t mostAxes = 3, mostLength = 1 << 20;
/// Steps of a loop or of a recurrent op, which are put into the model one behind the other.
constexpr int64_t mostSteps = 4096;
/// Tensors of a sequence: mapping one takes a step for each.
constexpr int64_t mostTensors = mostSteps;
/// Kinds of unsupported ops that are reported: each new one is compared with all of them.
constexpr int64_t mostFindings = 256;

// Of a safetensors file.

/// Bytes of the header: the reference implementation reads no longer one.
constexpr int64_t mostHeader = 100'000'000;
/// Weights listed that do not fit: for each, names are looked through.
constexpr int64_t mostMisfits = 64;

// Of an MLIR file.

/// Brackets in brackets: the parser calls itself for each.
constexpr int64_t mostNesting = 200;
/// Errors of the parser that are shown.
constexpr int64_t mostDiagnostics = 16;
/// Members: as many as the runtime takes. And their weights in all, each of which is an object of ours.
constexpr int64_t mostMembers = rt::kMaxMembers, mostSources = 1 << 20;
/// Ops, those of mapped functions counted each time: few functions that map each other make many.
constexpr int64_t mostOps = 1 << 14;
/// Elements of a tensor, so that its bytes can be counted.
constexpr int64_t mostElements = int64_t(1) << 44;
/// Elements that stand in the text: the parser takes many bytes for each.
constexpr int64_t mostWritten = int64_t(1) << 24;

} // namespace tutti

#endif
