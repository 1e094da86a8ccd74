// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hand-built artifact: metadata, the image of kernels.c and packed weights.
#include "ArtifactBuilder.h"

#include "runtime/schema/Layout.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace tutti::rt::test {

namespace {
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

std::vector<char> readImage(const char *path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// base + coef * product of sizes.
Offset<fb::Extent> extent(FlatBufferBuilder &b, int64_t base, int64_t coef = 0, std::vector<uint32_t> sizes = {}) {
  std::vector<Offset<fb::Term>> terms;
  if (coef)
    terms.push_back(fb::CreateTermDirect(b, coef, &sizes));
  return fb::CreateExtentDirect(b, base, &terms);
}

Offset<fb::Type> tensor(FlatBufferBuilder &b, std::vector<Offset<fb::Extent>> dims) {
  return fb::CreateTypeDirect(b, fb::ValueKind::tensor, fb::DType::f32, &dims);
}

Offset<fb::Slot> slot(FlatBufferBuilder &b, const char *name, std::vector<int64_t> dims, const char *layout,
                      uint64_t base, uint64_t bytes, bool perMember) {
  std::vector<Offset<fb::Extent>> extents;
  uint64_t raw = 4;
  for (int64_t dim : dims) {
    extents.push_back(extent(b, dim));
    raw *= uint64_t(dim);
  }
  auto type = tensor(b, extents);
  return fb::CreateSlotDirect(b, name, type, layout, 1, base, perMember ? bytes : 0, nullptr, perMember, &dims, nullptr,
                              perMember, bytes, raw);
}

std::vector<uint8_t> digestBytes(uint64_t digest) {
  auto *p = reinterpret_cast<uint8_t *>(&digest);
  return {p, p + 8};
}

/// One program; its slots are 0 and 1, its kernels `first` and the one after it, and of 8 rows the two behind those.
Offset<fb::Program> program(FlatBufferBuilder &b, const Spec &spec, bool cuda, uint32_t first = 0) {
  std::vector sizes{fb::CreateSizeDirect(b, "members", fb::SizeKind::active, 1, spec.members),
                    fb::CreateSizeDirect(b, "batch", fb::SizeKind::range, spec.batchLo, spec.batchHi)};
  auto batch = [&] { return extent(b, 0, 1, {1}); };
  std::vector ports{
      fb::CreatePortDirect(b, "x", tensor(b, {batch(), extent(b, kK)}), "", false, 0),
      fb::CreatePortDirect(b, "y", tensor(b, {extent(b, 0, 1, {0}), batch(), extent(b, kN)}), "members", true, 1),
      fb::CreatePortDirect(b, "y", tensor(b, {batch(), extent(b, kN)}), "mean", false, 2)};
  auto rowBlocks = [&](int64_t rows) {
    std::vector<uint32_t> batchSize{1};
    std::vector<int64_t> each{rows};
    std::vector terms{fb::CreateTermDirect(b, 1, &batchSize, &each)};
    return fb::CreateExtentDirect(b, cuda ? spec.spareBlocks : 0, &terms);
  };
  auto hidden = [&] { return extent(b, 0, kN * 4, {0, 1}); };
  std::vector buffers{fb::CreateBuffer(b, fb::Space::input, 0, extent(b, 0, kK * 4, {1}), -1, 0),
                      fb::CreateBuffer(b, fb::Space::output, 0, hidden(), -1, 1),
                      fb::CreateBuffer(b, fb::Space::output, 0, extent(b, 0, kN * 4, {1}), -1, 2),
                      fb::CreateBuffer(b, fb::Space::arena, extent(b, 64), hidden()),
                      fb::CreateBuffer(b, fb::Space::constant, 0, 0, 0),
                      fb::CreateBuffer(b, fb::Space::constant, 0, 0, 1),
                      fb::CreateBuffer(b, fb::Space::state, 0, extent(b, 8))};
  auto launch = [&](uint32_t kernel, std::vector<int> argBuffers, bool lifted, uint64_t scratch) {
    std::vector<Offset<fb::Arg>> args;
    for (int buffer : argBuffers)
      args.push_back(fb::CreateArg(b, buffer));
    for (uint32_t i = 0; cuda && i < spec.extraArgs; ++i)
      args.push_back(fb::CreateArg(b, 0));
    std::vector<uint32_t> block{spec.blockThreads, 1, 1};
    auto grid = [&](int64_t rows) {
      return std::vector{rowBlocks(rows), lifted ? extent(b, 0, 1, {0}) : extent(b, 1), extent(b, spec.gridZ)};
    };
    auto costTable = [&](const std::optional<Spec::Cost> &of) {
      return of && cuda ? fb::CreateCost(b, (*of)[0], (*of)[1], (*of)[2], (*of)[3], (*of)[4], (*of)[5], (*of)[6])
                        : Offset<fb::Cost>();
    };
    std::vector<Offset<fb::Extent>> own;
    std::vector<Offset<fb::Alternative>> alternatives;
    kernel += first;
    if (cuda && spec.alternatives) {
      auto small = grid(4);
      alternatives.push_back(fb::CreateAlternativeDirect(
          b, kernel + spec.alternativeKernel, &small, &block, &spec.alternativeCluster,
          extent(b, spec.alternativeShared), cuda && lifted && spec.persistent, costTable(spec.alternativeCost)));
      kernel += 2;
    }
    if (cuda)
      own = grid(spec.alternatives ? 8 : 4);
    std::vector<Offset<fb::Part>> parts;
    if (cuda && lifted)
      for (auto [numArgs, set] : spec.parts)
        parts.push_back(fb::CreatePart(b, numArgs, set));
    auto l = fb::CreateLaunchDirect(b, kernel, &args, 0, cuda ? &own : nullptr, cuda ? &block : nullptr,
                                    cuda ? &spec.cluster : nullptr, cuda ? extent(b, spec.shared) : 0, 0, lifted,
                                    batch(), spec.rowTileMax, 4, 2, scratch, &alternatives,
                                    /*whole=*/false, &parts, cuda && lifted && spec.persistent, costTable(spec.cost));
    return fb::CreateStepDirect(b, fb::Command::Launch, l.Union());
  };
  std::vector steps{launch(0, {0, 4, 5, cuda && spec.oneLaunch ? 1 : 3}, true, kN * 4)};
  if (!cuda || !spec.oneLaunch)
    steps.push_back(launch(1, {3, 1, 2, 6}, false, 0));
  std::vector targets{b.CreateString(cuda ? "cuda" : "cpu")};
  std::vector arena{extent(b, 64, kN * 4, {0, 1})};
  return fb::CreateProgramDirect(b, "infer", &targets, nullptr, &sizes, 1, &ports, &buffers, &steps, &arena, "f32",
                                 extent(b, 0, 2 * kK * kN, {0, 1}), /*chunk=*/0, /*memory=*/0, spec.strips);
}

struct Places {
  uint64_t weightBytes, biasBytes, biasAt, secondBytes, secondAt, total;
};
Places placesOf(const Spec &spec) {
  uint64_t w = uint64_t(layoutBytes(parseLayout(spec.layout), kK, kN)), b = alignUp(kN * 4, 64);
  uint64_t second = spec.second.empty() ? 0 : uint64_t(layoutBytes(parseLayout(spec.second), kK, kN));
  uint64_t biasAt = w * spec.members, secondAt = biasAt + b * (spec.sharedBias ? 1 : spec.members);
  return {w, b, biasAt, second, secondAt, secondAt + second * spec.members};
}

FlatBufferBuilder metadata(const Spec &spec, const std::vector<char> &image, const std::vector<char> &module,
                           uint64_t codeAt, uint64_t moduleAt, uint64_t weightsAt, uint64_t weightsDigest) {
  FlatBufferBuilder b;
  Places places = placesOf(spec);
  std::vector<Offset<fb::Member>> members;
  for (uint32_t m = 0; m < spec.members; ++m) {
    auto digest = digestBytes(m);
    std::string name = "m" + std::to_string(m);
    members.push_back(fb::CreateMemberDirect(b, name.c_str(), (name + ".onnx").c_str(), &digest));
  }
  auto codeDigest = digestBytes(xxh64(image.data(), image.size())), dataDigest = digestBytes(weightsDigest);
  std::vector segments{
      fb::CreateSegmentDirect(b, codeAt, image.size(), &codeDigest, false, fb::SegmentKind::code),
      fb::CreateSegmentDirect(b, weightsAt, places.total, &dataDigest, true, fb::SegmentKind::weights)};
  if (!module.empty()) {
    auto moduleDigest = digestBytes(xxh64(module.data(), module.size()));
    segments.push_back(
        fb::CreateSegmentDirect(b, moduleAt, module.size(), &moduleDigest, false, fb::SegmentKind::code));
  }
  std::vector slots{slot(b, "W", {kK, kN}, spec.layout.c_str(), 0,
                         spec.weightBytes ? uint64_t(spec.weightBytes) : places.weightBytes, true),
                    slot(b, "b", {kN}, "raw", places.biasAt, places.biasBytes, !spec.sharedBias)};
  if (!spec.second.empty())
    slots.push_back(slot(b, "W", {kK, kN}, spec.second.c_str(), places.secondAt, places.secondBytes, true));
  // The kernel wants a table for b in any case.
  if (spec.sharedBias) {
    std::vector<int64_t> dims{kN};
    std::vector extents{extent(b, kN)};
    auto type = tensor(b, extents);
    slots[1] = fb::CreateSlotDirect(b, "b", type, "raw", 1, places.biasAt, 0, nullptr, false, &dims, nullptr, true,
                                    places.biasBytes, kN * 4);
  }
  std::vector<Offset<fb::Kernel>> kernels;
  auto addKernels = [&](const std::vector<std::string> &cudaTargets, bool cpu) {
    for (uint32_t k = 0; k < (spec.alternatives ? 4 : 2); ++k) {
      int64_t offset;
      std::memcpy(&offset, image.data() + 8 * (k % 2), 8);
      constexpr const char *names[] = {"dense", "finish", "dense8", "finish8"};
      const char *onCuda = k || spec.layout == "panels" ? names[k] : "dense_bf16";
      std::vector<Offset<fb::Image>> images;
      if (cpu && k < 2)
        images.push_back(fb::CreateImageDirect(b, spec.target.c_str(), 0, names[k], uint64_t(offset)));
      for (const std::string &target : cudaTargets)
        images.push_back(
            fb::CreateImageDirect(b, target.c_str(), 2, onCuda, 0, spec.minDriver, 40, 0, module.size(), 0, 1, 64));
      kernels.push_back(fb::CreateKernelDirect(b, names[k], k % 2 ? "element" : "contract", "", &images));
    }
  };
  addKernels(spec.cudaTargets, !spec.target.empty());
  uint32_t second = uint32_t(kernels.size());
  if (!spec.secondCuda.empty())
    addKernels({spec.secondCuda}, false);

  std::vector<Offset<fb::Program>> programs;
  if (!spec.cudaTargets.empty())
    programs.push_back(program(b, spec, true));
  if (!spec.secondCuda.empty())
    programs.push_back(program(b, spec, true, second));
  if (!spec.target.empty())
    programs.push_back(program(b, spec, false));
  std::vector<Offset<flatbuffers::String>> features;
  if (!spec.requiredFeature.empty())
    features.push_back(b.CreateString(spec.requiredFeature));
  b.Finish(fb::CreateRootDirect(b, spec.format, "tutti test", &members, nullptr, &slots, &kernels, &programs, &segments,
                                nullptr, nullptr, &features, spec.share.c_str()),
           fb::RootIdentifier());
  return b;
}
} // namespace

File File::copy() const {
  File other(length);
  std::memcpy(other.data(), data(), length);
  return other;
}

void File::redigest() {
  FileHeader &h = header();
  auto digest = [&](uint64_t offset, uint64_t bytes) {
    return offset <= length && bytes <= length - offset ? xxh64(data() + offset, bytes) : 0;
  };
  h.metadataDigest = digest(h.metadataOffset, h.metadataBytes);
  h.codeDigest = digest(h.codeOffset, h.codeBytes);
  h.headerDigest = digestOf(h);
}

void File::write(const std::string &path) const {
  std::ofstream(path, std::ios::binary).write(data(), int64_t(length));
}

std::vector<float> weightOf(uint32_t m) {
  std::vector<float> w(kK * kN);
  for (int64_t i = 0; i < kK * kN; ++i)
    w[i] = float((i * 37 + m * 11) % 29) / 16 - 0.75f;
  return w;
}

std::vector<float> biasOf(uint32_t m) {
  std::vector<float> b(kN);
  for (int64_t i = 0; i < kN; ++i)
    b[i] = float((i * 13 + m * 7) % 17) / 32 - 0.25f;
  return b;
}

std::vector<float> inputOf(int64_t batch) {
  std::vector<float> x(batch * kK);
  for (int64_t i = 0; i < batch * kK; ++i)
    x[i] = float((i * 31) % 23) / 8 - 1;
  return x;
}

std::vector<float> expected(const std::vector<float> &x, const std::vector<float> &w, const std::vector<float> &b) {
  int64_t batch = int64_t(x.size()) / kK;
  std::vector<float> y(batch * kN);
  for (int64_t r = 0; r < batch; ++r)
    for (int64_t n = 0; n < kN; ++n) {
      float sum = b[n];
      for (int64_t k = 0; k < kK; ++k) // inputs are multiples of 1/8 and 1/16: every order is exact
        sum += x[r * kK + k] * w[k * kN + n];
      y[r * kN + n] = sum > 0 ? sum : 0;
    }
  return y;
}

File buildArtifact(const Spec &spec) {
  std::vector<char> image = readImage(TUTTI_TEST_IMAGE), module;
  if (!spec.cudaTargets.empty()) {
    module = spec.module.empty() ? readImage(TUTTI_TEST_MODULE) : spec.module;
    module.push_back('\0'); // as PTX ends
  }
  Places places = placesOf(spec);
  std::vector<char> weights(places.total);
  for (uint32_t m = 0; m < spec.members; ++m) {
    std::vector<float> w = weightOf(m), bias = biasOf(m);
    packMatrix(parseLayout(spec.layout), weights.data() + m * places.weightBytes, w.data(), kK, kN, kN, 1);
    if (m == 0 || !spec.sharedBias)
      std::memcpy(weights.data() + places.biasAt + m * places.biasBytes, bias.data(), kN * 4);
  }
  uint64_t weightsDigest = xxh64(weights.data(), weights.size());
  // Offsets depend on the metadata's size, which does not depend on the offsets' values.
  uint64_t metadataBytes = metadata(spec, image, module, kPageBytes, kPageBytes, kPageBytes, weightsDigest).GetSize();
  uint64_t codeAt = alignUp(sizeof(FileHeader) + metadataBytes, kPageBytes);
  uint64_t moduleAt = codeAt + alignUp(image.size(), kPageBytes);
  uint64_t codeBytes = moduleAt - codeAt + alignUp(module.size(), kPageBytes), weightsAt = codeAt + codeBytes;
  FlatBufferBuilder b = metadata(spec, image, module, codeAt, moduleAt, weightsAt, weightsDigest);

  File file(weightsAt + weights.size());
  FileHeader &h = file.header();
  std::memcpy(h.magic, kMagic, 4);
  h.version = kFormatVersion;
  h.fileBytes = file.size();
  h.metadataOffset = sizeof(FileHeader);
  h.metadataBytes = b.GetSize();
  h.codeOffset = codeAt;
  h.codeBytes = codeBytes;
  std::memcpy(file.data() + h.metadataOffset, b.GetBufferPointer(), b.GetSize());
  std::memcpy(file.data() + codeAt, image.data(), image.size());
  std::copy(module.begin(), module.end(), file.data() + moduleAt);
  std::memcpy(file.data() + weightsAt, weights.data(), weights.size());
  file.redigest();
  return file;
}

} // namespace tutti::rt::test
