// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models, small as they are, whose kernels have every line that orders threads (Barriers.cpp).
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti {

/// A model as text, what it is compiled for, its weights' sizes, and the columns and rows of its input.
struct Shape {
  const char *name, *target, *capability, *precision, *text;
  std::vector<std::pair<const char *, llvm::SmallVector<int64_t>>> weights;
  int64_t columns, rows;
};

/// Layers of every kind behind each other: what a warp writes, another reads.
inline const char chain[] = R"(
func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>>) -> (tensor<?x5xf32, #tutti.sizes<batch>> {tutti.heads = ["mean", "quantile:0.3"]}) {
  %w0 = tutti.get @w0 : tensor<72x104xf32>
  %w1 = tutti.get @w1 : tensor<104x40xf32>
  %w2 = tutti.get @w2 : tensor<40x5xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x72xf32, #tutti.sizes<batch>>, tensor<72x104xf32>
  %1 = tutti.relu %0 : tensor<?x104xf32, #tutti.sizes<batch>>
  %2 = tutti.contract %1, %w1 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x40xf32>
  %3 = tutti.reduce max %2 [1] : tensor<?x40xf32, #tutti.sizes<batch>>
  %4 = tutti.sub %2, %3 : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %5 = tutti.contract %4, %w2 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x5xf32>
  return %5 : tensor<?x5xf32, #tutti.sizes<batch>>
}
)";
inline const std::vector<std::pair<const char *, llvm::SmallVector<int64_t>>> chainWeights = {
    {"w0", {72, 104}}, {"w1", {104, 40}}, {"w2", {40, 5}}};
/// Layers of which each needs the rows of the one before and nothing else.
inline const char layers[] = R"(
func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>>) -> tensor<?x40xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<72x104xf32>
  %w1 = tutti.get @w1 : tensor<104x104xf32>
  %w2 = tutti.get @w2 : tensor<104x40xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x72xf32, #tutti.sizes<batch>>, tensor<72x104xf32>
  %1 = tutti.relu %0 : tensor<?x104xf32, #tutti.sizes<batch>>
  %2 = tutti.contract %1, %w1 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x104xf32>
  %3 = tutti.contract %2, %w2 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x40xf32>
  return %3 : tensor<?x40xf32, #tutti.sizes<batch>>
}
)";
/// Other steps before the first layer that a cluster shares, and between two.
inline const char between[] = R"(
func.func @main(%x: tensor<?x23xf32, #tutti.sizes<batch>>) -> (tensor<?x40xf32, #tutti.sizes<batch>> {tutti.heads = ["mean"]}) {
  %w0 = tutti.get @w0 : tensor<23x104xf32>
  %w1 = tutti.get @w1 : tensor<104x97xf32>
  %w2 = tutti.get @w2 : tensor<97x104xf32>
  %w3 = tutti.get @w3 : tensor<104x40xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x23xf32, #tutti.sizes<batch>>, tensor<23x104xf32>
  %1 = tutti.contract %0, %w1 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x97xf32>
  %2 = tutti.reduce max %1 [1] : tensor<?x97xf32, #tutti.sizes<batch>>
  %3 = tutti.sub %1, %2 : tensor<?x97xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %4 = tutti.contract %3, %w2 "bk,kn->bn" : tensor<?x97xf32, #tutti.sizes<batch>>, tensor<97x104xf32>
  %5 = tutti.contract %4, %w3 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x40xf32>
  return %5 : tensor<?x40xf32, #tutti.sizes<batch>>
}
)";
/// Of more rows than 64, so that warpgroups have them all to themselves.
inline const char two[] = R"(
func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>>) -> tensor<?x24xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<72x40xf32>
  %w1 = tutti.get @w1 : tensor<40x24xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x72xf32, #tutti.sizes<batch>>, tensor<72x40xf32>
  %1 = tutti.relu %0 : tensor<?x40xf32, #tutti.sizes<batch>>
  %2 = tutti.contract %1, %w1 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x24xf32>
  return %2 : tensor<?x24xf32, #tutti.sizes<batch>>
}
)";
/// More stages than the ring has, for warpgroups.
inline const char deep[] = R"(
func.func @main(%x: tensor<?x512xf32, #tutti.sizes<batch>>) -> tensor<?x24xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<512x24xf32>
  %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x512xf32, #tutti.sizes<batch>>, tensor<512x24xf32>
  return %0 : tensor<?x24xf32, #tutti.sizes<batch>>
}
)";
/// More layers with a bias than a ring has places for, the first of two stages.
inline const char biases[] = R"(
func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>>) -> tensor<?x40xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<72x40xf32>
  %b0 = tutti.get @b0 : tensor<40xf32>
  %w1 = tutti.get @w1 : tensor<40x40xf32>
  %b1 = tutti.get @b1 : tensor<40xf32>
  %w2 = tutti.get @w2 : tensor<40x40xf32>
  %b2 = tutti.get @b2 : tensor<40xf32>
  %w3 = tutti.get @w3 : tensor<40x40xf32>
  %b3 = tutti.get @b3 : tensor<40xf32>
  %w4 = tutti.get @w4 : tensor<40x40xf32>
  %b4 = tutti.get @b4 : tensor<40xf32>
  %w5 = tutti.get @w5 : tensor<40x40xf32>
  %b5 = tutti.get @b5 : tensor<40xf32>
  %p0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x72xf32, #tutti.sizes<batch>>, tensor<72x40xf32>
  %0 = tutti.add %p0, %b0 : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40xf32>
  %p1 = tutti.contract %0, %w1 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x40xf32>
  %1 = tutti.add %p1, %b1 : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40xf32>
  %p2 = tutti.contract %1, %w2 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x40xf32>
  %2 = tutti.add %p2, %b2 : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40xf32>
  %p3 = tutti.contract %2, %w3 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x40xf32>
  %3 = tutti.add %p3, %b3 : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40xf32>
  %p4 = tutti.contract %3, %w4 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x40xf32>
  %4 = tutti.add %p4, %b4 : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40xf32>
  %p5 = tutti.contract %4, %w5 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x40xf32>
  %5 = tutti.add %p5, %b5 : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40xf32>
  return %5 : tensor<?x40xf32, #tutti.sizes<batch>>
}
)";
/// More panels than a cluster has blocks: it makes a second pass.
inline const char passes[] = R"(
func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>>) -> tensor<?x264xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<72x264xf32>
  %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<?x72xf32, #tutti.sizes<batch>>, tensor<72x264xf32>
  return %0 : tensor<?x264xf32, #tutti.sizes<batch>>
}
)";
/// Rows that lie in an input so that no four neighbours are one load.
inline const char narrow[] = R"(
func.func @main(%x: tensor<?x23xf32, #tutti.sizes<batch>>) -> tensor<?x12xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<23x40xf32>
  %w1 = tutti.get @w1 : tensor<40x12xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x23xf32, #tutti.sizes<batch>>, tensor<23x40xf32>
  %1 = tutti.contract %0, %w1 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x12xf32>
  return %1 : tensor<?x12xf32, #tutti.sizes<batch>>
}
)";
/// Two layers by fma that are one piece of code.
inline const char alike[] = R"(
func.func @main(%x: tensor<?x37xf32, #tutti.sizes<batch>>) -> tensor<?x40xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<37x40xf32>
  %w1 = tutti.get @w1 : tensor<40x40xf32>
  %w2 = tutti.get @w2 : tensor<40x40xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<37x40xf32>
  %1 = tutti.contract %0, %w1 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x40xf32>
  %2 = tutti.contract %1, %w2 "bk,kn->bn" : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<40x40xf32>
  %s = tutti.reduce max %2 [1] : tensor<?x40xf32, #tutti.sizes<batch>>
  %3 = tutti.sub %2, %s : tensor<?x40xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  return %3 : tensor<?x40xf32, #tutti.sizes<batch>>
}
)";
inline const char softmax[] = R"(
func.func @main(%x: tensor<?x37xf32, #tutti.sizes<batch>>) -> tensor<?x37xf32, #tutti.sizes<batch>> {
  %s = tutti.get @s : tensor<37xf32>
  %0 = tutti.mul %x, %s : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<37xf32>
  %1 = tutti.reduce max %0 [1] : tensor<?x37xf32, #tutti.sizes<batch>>
  %2 = tutti.sub %0, %1 : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %3 = tutti.exp %2 : tensor<?x37xf32, #tutti.sizes<batch>>
  %4 = tutti.reduce sum %3 [1] : tensor<?x37xf32, #tutti.sizes<batch>>
  %5 = tutti.div %3, %4 : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  return %5 : tensor<?x37xf32, #tutti.sizes<batch>>
}
)";
/// Steps by rows, each of which reads what other threads have stored in the one before.
inline const char scan[] = R"(
func.func @main(%x: tensor<?x37xf32, #tutti.sizes<batch>>) -> tensor<?x37xf32, #tutti.sizes<batch>> {
  %s = tutti.get @s : tensor<37xf32>
  %0 = tutti.mul %x, %s : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<37xf32>
  %1 = tutti.scan sum %0 : tensor<?x37xf32, #tutti.sizes<batch>>
  %2 = tutti.slice %1 from [0, 36] size [-1, 37] step [1, -1] : tensor<?x37xf32, #tutti.sizes<batch>>
  %3 = tutti.scan sum %2 exclusive : tensor<?x37xf32, #tutti.sizes<batch>>
  return %3 : tensor<?x37xf32, #tutti.sizes<batch>>
}
)";
inline const char top[] = R"(
func.func @main(%x: tensor<?x37xf32, #tutti.sizes<batch>>) -> tensor<?x5xi64, #tutti.sizes<batch>> {
  %s = tutti.get @s : tensor<37xf32>
  %0 = tutti.mul %x, %s : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<37xf32>
  %1 = tutti.scan sum %0 reverse : tensor<?x37xf32, #tutti.sizes<batch>>
  %2 = tutti.top 9 of %1 : tensor<?x37xf32, #tutti.sizes<batch>>
  %3 = tutti.slice %2 from [0, 8] size [-1, 9] step [1, -1] : tensor<?x9xi64, #tutti.sizes<batch>>
  %4 = tutti.top 5 of %3 smallest : tensor<?x9xi64, #tutti.sizes<batch>>
  return %4 : tensor<?x5xi64, #tutti.sizes<batch>>
}
)";
// What stands between two layers stores over rows that the ending before it reads.
inline const char residual[] = R"(
func.func @main(%x: tensor<?x72xf32, #tutti.sizes<batch>>) -> tensor<?x40xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<72x104xf32>
  %w1 = tutti.get @w1 : tensor<104x104xf32>
  %w2 = tutti.get @w2 : tensor<104x104xf32>
  %w3 = tutti.get @w3 : tensor<104x40xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x72xf32, #tutti.sizes<batch>>, tensor<72x104xf32>
  %v = tutti.tanh %0 : tensor<?x104xf32, #tutti.sizes<batch>>
  %1 = tutti.contract %v, %w1 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x104xf32>
  %2 = tutti.relu %1 : tensor<?x104xf32, #tutti.sizes<batch>>
  %3 = tutti.contract %2, %w2 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x104xf32>
  %4 = tutti.add %3, %v : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<?x104xf32, #tutti.sizes<batch>>
  %5 = tutti.slice %4 from [0, 103] size [-1, 1] step [1, 1] : tensor<?x104xf32, #tutti.sizes<batch>>
  %6 = tutti.sub %4, %5 : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %7 = tutti.contract %6, %w3 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x40xf32>
  return %7 : tensor<?x40xf32, #tutti.sizes<batch>>
}
)";
inline const char scatter[] = R"(
func.func @main(%x: tensor<?x37xf32, #tutti.sizes<batch>>) -> tensor<?x37xf32, #tutti.sizes<batch>> {
  %s = tutti.get @s : tensor<37xf32>
  %0 = tutti.mul %x, %s : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<37xf32>
  %i = tutti.cast %0 : tensor<?x37xf32, #tutti.sizes<batch>> -> tensor<?x37xi64, #tutti.sizes<batch>>
  %1 = tutti.slice %i from [0, 36] size [-1, 37] step [1, -1] : tensor<?x37xi64, #tutti.sizes<batch>>
  %2 = tutti.cast %1 : tensor<?x37xi64, #tutti.sizes<batch>> -> tensor<?x37xf32, #tutti.sizes<batch>>
  %u = tutti.add %x, %2 : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<?x37xf32, #tutti.sizes<batch>>
  %3 = tutti.slice %u from [0, 36] size [-1, 37] step [1, -1] : tensor<?x37xf32, #tutti.sizes<batch>>
  %4 = tutti.scatter add %3 at %i with %u : tensor<?x37xf32, #tutti.sizes<batch>>, tensor<?x37xi64, #tutti.sizes<batch>>, tensor<?x37xf32, #tutti.sizes<batch>>
  return %4 : tensor<?x37xf32, #tutti.sizes<batch>>
}
)";

/// Rows that are made right before the one layer of a cluster.
inline const char made[] = R"(
func.func @main(%x: tensor<?x104xf32, #tutti.sizes<batch>>) -> tensor<?x40xf32, #tutti.sizes<batch>> {
  %w = tutti.get @w : tensor<104x40xf32>
  %0 = tutti.reduce max %x [1] : tensor<?x104xf32, #tutti.sizes<batch>>
  %1 = tutti.sub %x, %0 : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %2 = tutti.contract %1, %w "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x40xf32>
  return %2 : tensor<?x40xf32, #tutti.sizes<batch>>
}
)";

inline const Shape shapes[] = {
    {"softmax", "emulated", "90", "f32-ffma", softmax, {{"s", {37}}}, 37, 19},
    {"plain", "emulated", "90", "f32-ffma", chain, chainWeights, 72, 19},
    {"async", "emulated-sm_80", "80", "f32", chain, chainWeights, 72, 19},
    {"bulk", "emulated", "90", "f32", chain, chainWeights, 72, 19},
    {"pairs", "emulated", "90", "bf16", layers, {{"w0", {72, 104}}, {"w1", {104, 104}}, {"w2", {104, 40}}}, 72, 61},
    {"wide", "emulated", "90", "bf16", two, {{"w0", {72, 40}}, {"w1", {40, 24}}}, 72, 70},
    {"biases",
     "emulated",
     "90",
     "bf16",
     biases,
     {{"w0", {72, 40}},
      {"b0", {40}},
      {"w1", {40, 40}},
      {"b1", {40}},
      {"w2", {40, 40}},
      {"b2", {40}},
      {"w3", {40, 40}},
      {"b3", {40}},
      {"w4", {40, 40}},
      {"b4", {40}},
      {"w5", {40, 40}},
      {"b5", {40}}},
     72,
     70},
    {"deep", "emulated", "90", "bf16", deep, {{"w", {512, 24}}}, 512, 70},
    {"layers", "emulated", "90", "f32", layers, {{"w0", {72, 104}}, {"w1", {104, 104}}, {"w2", {104, 40}}}, 72, 35},
    {"between",
     "emulated",
     "90",
     "f32",
     between,
     {{"w0", {23, 104}}, {"w1", {104, 97}}, {"w2", {97, 104}}, {"w3", {104, 40}}},
     23,
     19},
    {"residual",
     "emulated",
     "90",
     "f32",
     residual,
     {{"w0", {72, 104}}, {"w1", {104, 104}}, {"w2", {104, 104}}, {"w3", {104, 40}}},
     72,
     19},
    {"made", "emulated", "90", "f32", made, {{"w", {104, 40}}}, 104, 19},
    {"passes", "emulated", "90", "f32", passes, {{"w", {72, 264}}}, 72, 19},
    {"narrow", "emulated", "90", "f32", narrow, {{"w0", {23, 40}}, {"w1", {40, 12}}}, 23, 19},
    {"alike", "emulated", "90", "f32-ffma", alike, {{"w0", {37, 40}}, {"w1", {40, 40}}, {"w2", {40, 40}}}, 37, 19},
    {"scan", "emulated", "90", "f32-ffma", scan, {{"s", {37}}}, 37, 19},
    {"top", "emulated", "90", "f32-ffma", top, {{"s", {37}}}, 37, 19},
    {"scatter", "emulated", "90", "f32-ffma", scatter, {{"s", {37}}}, 37, 19},
};

} // namespace tutti
