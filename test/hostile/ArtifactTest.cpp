// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Artifacts that somebody has changed: as they are, they are refused; with the digests made right again, they are
// refused or run, and nothing leaves a buffer. `./dev test --sanitize address` shows what no fault shows.
#include "CudaFixture.h"
#include "Probe.h"
#include "Seeds.h"

using namespace tutti::rt;
using namespace tutti::rt::test;

namespace {
tutti_status_t statusOf(const File &file, size_t bytes = SIZE_MAX) {
  return tutti::Artifact::open(std::as_bytes(std::span(file.data(), std::min(bytes, file.size())))).error().status();
}

/// What a byte, or the eight from it on, become.
using Change = void (*)(char *at, size_t room);
template <typename T, T value> void put(char *at, size_t room) {
  T to = value;
  std::memcpy(at, &to, std::min(room, sizeof(to)));
}
constexpr Change kChanges[] = {
    [](char *at, size_t) { *at ^= 0x01; },
    [](char *at, size_t) { *at ^= char(0x80); },
    [](char *at, size_t) { *at = char(*at + 1); },
    [](char *at, size_t) { *at = char(*at - 1); },
    put<uint8_t, 0>,
    put<uint8_t, 0xff>,
    put<int32_t, INT32_MAX>,
    put<int64_t, INT64_MAX>,
    put<int64_t, INT64_MIN>,
    put<int64_t, -1>,
    put<int64_t, 0>,
    put<int64_t, (int64_t(1) << 32)>,
};

struct Tally {
  size_t refused = 0, runs = 0;
};

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/// Sanitizers see what no fault shows: under them the long sweeps change every byte, elsewhere one of so many.
constexpr size_t kThin = __has_feature(address_sanitizer) ? 1 : 5;

/// Every byte of the head with every `stride`-th change, the digests right again.
Tally changeEveryByte(std::string_view head, size_t stride, std::string_view code = {},
                      tutti_device_t device = TUTTI_DEVICE_CPU) {
  Tally tally;
  for (size_t at = 0; at < head.size(); ++at)
    for (size_t c = at % stride; c < std::size(kChanges); c += stride) {
      std::string changed(head);
      kChanges[c](changed.data() + at, changed.size() - at);
      if (changed == head)
        continue;
      File file = expand(changed, code);
      if (file.size() < sizeof(FileHeader))
        continue;
      file.redigest();
      SCOPED_TRACE("byte " + std::to_string(at) + ", change " + std::to_string(c));
      Outcome outcome = exercise(file, device);
      tally.refused += outcome.opened != TUTTI_OK;
      tally.runs += outcome.runs > 0;
    }
  return tally;
}

std::vector<std::string> allSeedNames() {
  std::vector<std::string> all = seedNames(/*device=*/false);
  for (std::string &name : seedNames(/*device=*/true))
    all.push_back(std::move(name));
  return all;
}

Spec everything() {
  Spec spec;
  spec.second = "matrices.bf16";
  return spec;
}
} // namespace

TEST(Hostile, everyByteAsItIs) {
  for (const std::string &name : allSeedNames()) {
    std::string head = seedNamed(name);
    File file = expand(head);
    file.redigest();
    ASSERT_EQ(statusOf(file), TUTTI_OK) << name;
    for (size_t at = 0; at < head.size(); ++at)
      for (char change : {char(1), char(0x80), char(0xff), char(1 << at % 8)}) {
        file.data()[at] ^= change;
        tutti_status_t status = statusOf(file);
        bool ofVersion = status == TUTTI_NEWER_FORMAT || status == TUTTI_UNSUPPORTED; // it is read first
        EXPECT_TRUE(at >= 4 && at < 8 ? ofVersion || status >> 8 == 3 : status >> 8 == 3)
            << name << ", byte " << at << ": " << status;
        file.data()[at] ^= change;
      }
  }
}

TEST(Hostile, everyCut) {
  for (const std::string &name : allSeedNames()) {
    std::string head = seedNamed(name);
    File file = expand(head);
    file.redigest();
    for (size_t bytes = 0; bytes < file.size(); bytes += bytes < head.size() ? 1 : 509)
      EXPECT_EQ(statusOf(file, bytes) >> 8, 3) << name << ", " << bytes << " bytes";
    // The header says so, too, and its digest is right; then the metadata's length as well.
    for (size_t bytes = sizeof(FileHeader); bytes < head.size(); ++bytes)
      for (bool metadata : {false, true}) {
        std::string cut = head.substr(0, bytes);
        auto *header = reinterpret_cast<FileHeader *>(cut.data());
        (metadata ? header->metadataBytes : header->fileBytes) = metadata ? bytes - header->metadataOffset : bytes;
        File small = expand(cut);
        small.redigest();
        EXPECT_EQ(exercise(small).opened >> 8, 3) << name << ", " << bytes << " bytes";
      }
  }
}

TEST(Hostile, everyByteWithItsDigests) {
  File file = buildArtifact(everything());
  Tally tally = changeEveryByte(headOf(file), 1);
  EXPECT_GT(tally.refused, 2000);
  EXPECT_GT(tally.runs, 2000);
}

TEST_F(Cuda, everyByteWithItsDigests) {
  fake.memory = uint64_t(64) << 20;
  fake.probe = probeOnDevice;
  Spec spec = cudaSpec();
  spec.alternatives = spec.persistent = true;
  spec.cost = {8, 100, 1000, 500, 10, 600, 300};
  spec.alternativeCost = {4, 100, 700, 400, 20, 600, 300};
  File file = buildArtifact(spec);
  Tally tally = changeEveryByte(headOf(file), 4, codeOf(file), TUTTI_DEVICE_CUDA);
  EXPECT_GT(tally.refused, 500);
  EXPECT_GT(tally.runs, 500);
}

/// An artifact that the compiler has made. Each is a test by itself: together they would be the longest.
class Seed : public Cuda, public testing::WithParamInterface<std::string> {
public:
  static std::string name(const testing::TestParamInfo<ParamType> &seed) {
    std::string name = seed.param;
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
  }

protected:
  static void changeEveryByteFor(tutti_device_t device, std::string_view code, size_t stride) {
    const std::string head = seedNamed(GetParam());
    File file = expand(head, code);
    file.redigest();
    EXPECT_GT(exercise(file, device).runs, 0);
    Tally tally = changeEveryByte(head, stride * kThin, code, device);
    EXPECT_GT(tally.refused, 500 / kThin);
    EXPECT_GT(tally.runs, 500 / kThin);
  }
};
class SeedForCpus : public Seed {};
class SeedForDevices : public Seed {};

TEST_P(SeedForCpus, everyByte) { changeEveryByteFor(TUTTI_DEVICE_CPU, {}, 6); }
TEST_P(SeedForDevices, everyByte) {
  fake.memory = uint64_t(64) << 20;
  fake.probe = probeOnDevice;
  changeEveryByteFor(TUTTI_DEVICE_EMULATED, emptyModule(), 12);
}

INSTANTIATE_TEST_SUITE_P(Corpus, SeedForCpus, testing::ValuesIn(seedNames(/*device=*/false)), Seed::name);
INSTANTIATE_TEST_SUITE_P(Corpus, SeedForDevices, testing::ValuesIn(seedNames(/*device=*/true)), Seed::name);
