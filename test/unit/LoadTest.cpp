// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading what is damaged, truncated, newer, hostile or for another machine.
#include "CudaFixture.h"
#include "runtime/schema/Layout.h"

#include <cstdio>
#include <random>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tutti::rt;
using namespace tutti::rt::test;

namespace {
tutti::Error open(const File &file, size_t bytes = SIZE_MAX) {
  return tutti::Artifact::open(std::as_bytes(std::span(file.data(), std::min(bytes, file.size())))).error();
}

/// Opens, and makes and fills a session if that works: everything of the runtime that reads metadata.
tutti_status_t openAndPrepare(const File &file) {
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  if (!artifact)
    return artifact.error().status();
  auto session = tutti::Session::create(*artifact);
  if (!session)
    return session.error().status();
  std::vector<float> x = inputOf(64);
  uint32_t active[] = {1};
  (void)session->setActive(active);
  (void)session->bindInput<float>("x", std::span<const float>(x), {64, kK});
  (void)session->output("y", "mean");
  return TUTTI_OK;
}
} // namespace

TEST(Load, fromAPathAndFromMemory) {
  std::string path = testing::TempDir() + "load-" + std::to_string(getpid()) + ".tutti";
  File file = buildArtifact();
  file.write(path);
  auto artifact = tutti::Artifact::open(path);
  ASSERT_TRUE(artifact.ok()) << artifact.error().message();
  auto session = tutti::Session::create(*artifact);
  ASSERT_TRUE(session.ok()) << session.error().message();
  auto x = inputOf(2);
  ASSERT_FALSE(session->bindInput<float>("x", std::span<const float>(x), {2, kK}));
  ASSERT_FALSE(session->run());
  auto mean = session->output("y", "mean")->as<float>();
  EXPECT_EQ(std::vector<float>(mean.begin(), mean.end()), answerOf(x, {0, 1, 2}).mean);
  EXPECT_FALSE(artifact->verifyWeights());
  std::remove(path.c_str());
}

TEST(Load, whatIsNoFile) {
  EXPECT_EQ(tutti::Artifact::open("/nowhere/at/all.tutti").error().status(), TUTTI_NOT_FOUND);
  // What cleans up after a failure finds handles that it may give back.
  auto *artifact = reinterpret_cast<tutti_artifact_t *>(1);
  EXPECT_EQ(tutti_artifact_open(nullptr, &artifact, nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(artifact, nullptr);
  auto *session = reinterpret_cast<tutti_session_t *>(1);
  EXPECT_EQ(tutti_session_create(nullptr, nullptr, &session, nullptr), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(tutti::Artifact::open("/tmp").error().exitCode(), 2);
  EXPECT_EQ(tutti::Artifact::open("/dev/null").error().exitCode(), 2);
  sockaddr_un place = {AF_UNIX, {}};
  std::snprintf(place.sun_path, sizeof(place.sun_path), "%sload-%d", testing::TempDir().c_str(), getpid());
  int socketOf = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(socketOf, reinterpret_cast<sockaddr *>(&place), sizeof(place)), 0);
  EXPECT_EQ(tutti::Artifact::open(place.sun_path).error().status(), TUTTI_INVALID_ARGUMENT) << "a socket";
  close(socketOf);
  unlink(place.sun_path);
}

TEST(Load, everyTruncation) {
  File file = buildArtifact();
  for (size_t bytes = 0; bytes < file.size(); bytes += bytes < 6000 ? 1 : 97) {
    tutti::Error error = open(file, bytes);
    EXPECT_EQ(error.exitCode(), 3) << bytes << " bytes: " << error.message();
  }
}

TEST(Load, everyFlippedByteIsNoticed) {
  File file = buildArtifact();
  uint64_t checked = file.header().codeOffset + file.header().codeBytes;
  uint64_t metadataEnd = file.header().metadataOffset + file.header().metadataBytes;
  for (size_t i = 0; i < checked; i += i < metadataEnd ? 1 : 61) {
    if (i >= metadataEnd && i < file.header().codeOffset)
      continue; // padding
    file.data()[i] ^= 0x10;
    EXPECT_TRUE(open(file)) << "byte " << i;
    file.data()[i] ^= 0x10;
  }
  EXPECT_FALSE(open(file));
}

TEST(Load, damagedWeightsAreFoundOnDemand) {
  File file = buildArtifact();
  file.data()[file.size() - 100] ^= 1;
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok());
  EXPECT_EQ(artifact->verifyWeights().status(), TUTTI_DIGEST_MISMATCH);
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  options.verify_weights = true;
  EXPECT_EQ(tutti::Session::create(*artifact, options).error().status(), TUTTI_DIGEST_MISMATCH);
}

// As under systemd's MemoryDenyWriteExecute.
TEST(Load, withoutExecutableMemoryAnArtifactCanBeLookedAt) {
  File file = buildArtifact();
  pid_t child = fork();
  if (child == 0) {
    constexpr int setMdwe = 65, refuseExecGain = 1; // PR_SET_MDWE, Linux 6.3
    if (prctl(setMdwe, refuseExecGain, 0, 0, 0) != 0)
      _exit(77);
    auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
    bool good = artifact.ok() && artifact->info().num_members == 3 && !artifact->verifyWeights();
    _exit(good && tutti::Session::create(*artifact, 1).error().status() == TUTTI_NO_DEVICE ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    GTEST_SKIP() << "this kernel denies no executable memory";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Load, newerAndUnknown) {
  File newer = buildArtifact();
  newer.header().version = kFormatVersion + 1;
  newer.redigest();
  EXPECT_EQ(open(newer).status(), TUTTI_NEWER_FORMAT);
  EXPECT_EQ(open(newer).exitCode(), 4);
  File older = buildArtifact();
  older.header().version = kFormatVersion - 1;
  older.redigest();
  EXPECT_EQ(open(older).status(), TUTTI_UNSUPPORTED);
  File features = buildArtifact();
  features.header().features = 4;
  features.redigest();
  EXPECT_EQ(open(features).status(), TUTTI_UNSUPPORTED);
  Spec spec;
  spec.requiredFeature = "time travel";
  EXPECT_EQ(open(buildArtifact(spec)).status(), TUTTI_UNSUPPORTED);
  spec = {};
  spec.format = kFormatVersion + 1;
  EXPECT_EQ(open(buildArtifact(spec)).status(), TUTTI_NEWER_FORMAT);
  spec.format = kFormatVersion - 1; // the header says otherwise
  EXPECT_EQ(open(buildArtifact(spec)).status(), TUTTI_MALFORMED);
}

TEST(Load, layoutsOfWeights) {
  Spec spec;
  for (const char *layout : {"panels", "matrices.f32", "matrices.tf32", "matrices.bf16", "matrices.f16"}) {
    spec.layout = layout;
    spec.weightBytes = 0;
    tutti::Error error = open(buildArtifact(spec));
    EXPECT_FALSE(error) << error.message();
    spec.weightBytes = layoutBytes(parseLayout(layout), kK, kN) - 64;
    EXPECT_EQ(open(buildArtifact(spec)).status(), TUTTI_MALFORMED) << layout;
  }
  spec.layout = "fragments.f8";
  EXPECT_EQ(open(buildArtifact(spec)).status(), TUTTI_UNSUPPORTED);
}

TEST(Load, codeForAnotherMachine) {
  Spec spec;
  spec.target = "x86-64-v9";
  File file = buildArtifact(spec);
  auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
  ASSERT_TRUE(artifact.ok()) << "it can be inspected anywhere";
  tutti::Error error = tutti::Session::create(*artifact).error();
  EXPECT_EQ(error.status(), TUTTI_NO_DEVICE);
  EXPECT_EQ(error.exitCode(), 5);
}

TEST(Load, memoryThatIsNotAligned) {
  File file = buildArtifact();
  std::vector<char> odd(file.size() + 65);
  char *data = odd.data() + (64 - reinterpret_cast<uintptr_t>(odd.data()) % 64) + 1;
  std::memcpy(data, file.data(), file.size());
  EXPECT_EQ(tutti::Artifact::open(std::as_bytes(std::span(data, file.size()))).error().status(),
            TUTTI_INVALID_ARGUMENT);
}

// Somebody changes the metadata and makes the digests right again: still nothing may be read or written out of bounds.
// (Build with -fsanitize=address to see that it is not.)
static void openHostileMetadata(const Spec &spec, int rounds) {
  File original = buildArtifact(spec);
  std::mt19937 random(7);
  const FileHeader header = original.header();
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    File file = original.copy();
    char *metadata = file.data() + header.metadataOffset;
    for (int i = 0, n = 1 + int(random() % 3); i < n; ++i) {
      size_t at = random() % header.metadataBytes;
      switch (random() % 4) {
      case 0:
        metadata[at] = char(random());
        break;
      case 1:
        metadata[at] ^= char(1u << random() % 8);
        break;
      case 2:
        std::memset(metadata + at, 0xff, std::min<size_t>(8, header.metadataBytes - at));
        break;
      default:
        std::memset(metadata + at, 0x7f, std::min<size_t>(4, header.metadataBytes - at));
      }
    }
    file.redigest();
    tutti_status_t status = openAndPrepare(file);
    int code = status >> 8;
    EXPECT_TRUE(code == 0 || (code >= 2 && code <= 6)) << "round " << round << ": " << code;
    refused += code != 0;
  }
  EXPECT_GT(refused, rounds / 20);
}

TEST(Load, hostileMetadata) { openHostileMetadata({}, 20000); }

TEST_F(Cuda, hostileMetadata) {
  fake.memory = uint64_t(64) << 20;
  openHostileMetadata(cudaSpec(), 20000);
}

// What the check of a launch refuses, each by itself.
TEST_F(Cuda, hostileLaunches) {
  auto refused = [&](auto change) {
    Spec spec = cudaSpec();
    change(spec);
    tutti::Error error = open(buildArtifact(spec));
    EXPECT_EQ(error.status(), TUTTI_MALFORMED) << error.message();
    EXPECT_EQ(error.message().find("malformed artifact: program 0, step 0: "), 0u) << error.message();
  };
  refused([](Spec &s) { s.blockThreads = 0; });
  refused([](Spec &s) { s.blockThreads = 1025; });
  refused([](Spec &s) { s.shared = (227 << 10) + 1; });
  refused([](Spec &s) { s.shared = -1; });
  refused([](Spec &s) { s.cluster = {2, 1, 1}; }); // its grid is not made of twos
  refused([](Spec &s) { s.cluster = {1, 0, 1}; });
  refused([](Spec &s) { s.cluster = {1}; });
  refused([](Spec &s) { s.members = 70000; });            // grid.y
  refused([](Spec &s) { s.batchHi = int64_t(1) << 34; }); // grid.x
  auto refusedBehind = [&](auto change) {                 // the same of an alternative
    refused([&](Spec &s) {
      s.alternatives = true;
      change(s);
    });
  };
  refusedBehind([](Spec &s) { s.alternativeKernel = 4; });
  refusedBehind([](Spec &s) { s.alternativeShared = (227 << 10) + 1; });
  refusedBehind([](Spec &s) { s.alternativeCluster = {2, 1, 1}; });
  refusedBehind([](Spec &s) { s.batchHi = int64_t(3) << 32; }); // grid.x, of 8 rows a block it is enough
  refused([](Spec &s) { s.extraArgs = 507; });                  // and 4 and 2 words, one more than fit
  refused([](Spec &s) { s.parts = {{3, 0}}; });                 // of 4 arguments
  refused([](Spec &s) { s.parts = {{2, 0}, {3, 0}}; });
  refused([](Spec &s) { s.parts = {{UINT32_MAX, 0}, {5, 0}}; });
  refused([](Spec &s) { s.parts = {{2, 0}, {2, 1}}; }); // of one set
  refused([](Spec &s) { s.persistent = true, s.cluster = {1, 1, 1}; });
  refused([](Spec &s) { s.persistent = true, s.parts = {{2, 0}, {2, 0}}; });
  refusedBehind([](Spec &s) { s.persistent = true, s.alternativeCluster = {1, 1, 1}; });
  Spec whole = cudaSpec();
  whole.parts = {{0, 0}, {3, 0}, {0, 0}, {1, 0}};
  EXPECT_FALSE(open(buildArtifact(whole)));
}

TEST(Load, hostileHeader) {
  File original = buildArtifact();
  auto refuses = [&](auto change) {
    File file = original.copy();
    change(file.header());
    file.header().headerDigest = digestOf(file.header());
    EXPECT_EQ(open(file).exitCode(), 3) << open(file).message();
  };
  refuses([](FileHeader &h) { h.metadataOffset = UINT64_MAX - 63; });
  refuses([](FileHeader &h) { h.metadataBytes = UINT64_MAX; });
  refuses([](FileHeader &h) { h.metadataBytes = uint64_t(1) << 31; });
  refuses([](FileHeader &h) { h.metadataOffset += 1; });
  refuses([](FileHeader &h) { h.metadataOffset = 0; });
  refuses([](FileHeader &h) { h.codeOffset = UINT64_MAX - 4095; });
  refuses([](FileHeader &h) { h.codeBytes = UINT64_MAX; });
  refuses([](FileHeader &h) { h.codeOffset = 0; });
  refuses([](FileHeader &h) { h.fileBytes += 1; });
  refuses([](FileHeader &h) { h.magic[0] = 'X'; });
}

TEST(Load, tooLittleMemoryIsAStatus) {
  pid_t child = fork();
  if (child == 0) {
    Spec spec;
    spec.batchHi = int64_t(1) << 28;
    File file = buildArtifact(spec);
    auto artifact = tutti::Artifact::open(std::as_bytes(std::span(file.data(), file.size())));
    rlimit limit{uint64_t(1) << 30, uint64_t(1) << 30};
    setrlimit(RLIMIT_AS, &limit);
    _exit(tutti::Session::create(*artifact).error().exitCode());
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 6);
}
