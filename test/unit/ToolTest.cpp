// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tools as a shell meets them: outputs, exit codes, and nothing left behind by what fails.
#include "ArtifactBuilder.h"
#include "common/Npy.h"
#include "common/OutputFiles.h"
#include "common/Programs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace tutti::rt::test;
using namespace tutti::tool;
namespace fs = std::filesystem;

namespace {
class Tools : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("tutti-tools-" + std::to_string(getpid()));
    fs::create_directories(folder);
    buildArtifact().write(path("a.tutti"));
    writeInput("x.npy", 5);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string &name) const { return folder / name; }
  void writeInput(const std::string &name, int64_t batch) {
    std::vector<float> x = inputOf(batch);
    int64_t dims[] = {batch, kK};
    std::ofstream out(path(name), std::ios::binary);
    out << npyHeader(TUTTI_F32, dims);
    out.write(reinterpret_cast<const char *>(x.data()), std::streamsize(x.size() * 4));
  }
  void writeHeader(const std::string &name, const std::string &header) {
    std::ofstream(path(name), std::ios::binary) << "\x93NUMPY\x01" << '\0' << char(header.size()) << '\0' << header;
  }
  std::vector<float> readOutput(const std::string &name, std::vector<int64_t> dims) {
    Tensor tensor;
    auto failure = readNpy(path(name), TUTTI_F32, tensor);
    EXPECT_FALSE(failure) << failure.message;
    EXPECT_EQ(tensor.dims, dims);
    std::vector<float> values(tensor.data.size() / 4);
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
  }
  /// Runs a tool in the folder; out and err hold what it printed.
  int tool(const std::string &name, const std::string &arguments, const std::string &before = "") {
    std::string command = "cd '" + folder.string() + "' && " + before + " '" + std::string(TUTTI_TOOLS) + "/" + name +
                          "' " + arguments + " > out.txt 2> err.txt";
    int status = std::system(command.c_str());
    auto slurp = [&](const char *file) {
      std::ifstream in(path(file));
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    out = slurp("out.txt");
    err = slurp("err.txt");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Also for CUDA devices, and a driver for them.
  std::string writeCudaArtifact() {
    Spec spec;
    spec.cudaTargets = {"sm_90a", "compute_90"};
    buildArtifact(spec).write(path("c.tutti"));
    return "TUTTI_CUDA_DRIVER='" TUTTI_TEST_DRIVER "'";
  }

  fs::path folder;
  std::string out, err;
};
} // namespace

TEST_F(Tools, runWritesOneFileForEachHead) {
  ASSERT_EQ(tool("tutti-run", "a.tutti --input x=x.npy --output-dir o/deep --threads 2"), 0) << err;
  EXPECT_EQ(out, "");
  std::vector<float> members, x = inputOf(5);
  for (uint32_t m = 0; m < 3; ++m)
    for (float v : expected(x, weightOf(m), biasOf(m)))
      members.push_back(v);
  EXPECT_EQ(readOutput("o/deep/y.npy", {3, 5, kN}), members);
  readOutput("o/deep/y.mean.npy", {5, kN});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "o/deep"), {}), 2);

  ASSERT_EQ(tool("tutti", "run a.tutti --input x=x.npy --output-dir o --active 2,0 --repeat 3"), 0) << err;
  EXPECT_NE(out.find("3 runs"), std::string::npos);
  auto two = readOutput("o/y.npy", {2, 5, kN});
  EXPECT_TRUE(std::equal(two.begin(), two.begin() + 5 * kN, members.begin() + 2 * 5 * kN));
}

TEST_F(Tools, runSaysWhatIsWrongAndLeavesNothing) {
  writeInput("big.npy", 65);
  std::ofstream(path("junk.npy")) << "junk";
  writeHeader("record.npy", "{'descr': [('a', '<f4'), ('b]', '<i2')], 'fortran_order': False, 'shape': (0,), }");
  writeHeader("deep.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }");
  std::ofstream(path("junk.tutti")) << std::string(5000, 'j');
  struct Case {
    const char *arguments;
    int code;
    const char *message;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"", 2, "FILE"},
           {"a.tutti --output-dir o --no-such-flag", 2, "no-such-flag"},
           {"a.tutti --output-dir o", 2, "input 'x' is missing: add --input x=FILE.npy, float32 [batch, 6]"},
           {"a.tutti --input z=x.npy --output-dir o", 2, "there is no input 'z'"},
           {"a.tutti --input x --output-dir o", 2, "NAME=FILE.npy"},
           {"a.tutti --input x=x.npy --input x=x.npy --output-dir o", 2, "given twice"},
           {"a.tutti --input x=none.npy --output-dir o", 2, "none.npy"},
           {"a.tutti --input x=. --output-dir o", 2, "not a regular file"},
           {"a.tutti --input x=junk.npy --output-dir o", 3, "no .npy file"},
           {"a.tutti --input x=big.npy --output-dir o", 2, "batch in 1..64"},
           {"none.tutti --input x=x.npy --output-dir o", 2, "no such file"},
           {"junk.tutti --input x=x.npy --output-dir o", 3, "not an artifact"},
           {"a.tutti --input x=x.npy --output-dir o --active 0,0", 2, "member 0 twice"},
           {"a.tutti --input x=x.npy --output-dir o --active 3", 2, "member 3, expected 0 to 2"},
           {"a.tutti --input x=x.npy --output-dir o --active ''", 2, "--active: '' given: expected a value"},
           {"a.tutti --input x=x.npy --output-dir o --device ''", 2, "--device: '' given: expected a value"},
           {"a.tutti --input x=x.npy --output-dir ''", 2, "--output-dir: '' given: expected a value"},
           {"a.tutti --input x=x.npy --output-dir o --active 1,a", 2, "0,3,7"},
           {"a.tutti --input x=x.npy --output-dir o --device cuda", 5, "no code for the device 'cuda', only for 'cpu'"},
           {"a.tutti --input x=x.npy --output-dir o --device cuda:x", 2, "a number after 'cuda:'"},
           {"a.tutti --input x=x.npy --output-dir o --device cuda --target cpu-v3", 2, "CPU level"},
           {"a.tutti --input x=x.npy --output-dir o --device emulated", 5, "compile with --target emulated"},
           {"a.tutti --input x=x.npy --output-dir o --device abacus", 2, "abacus"},
           {"a.tutti --input x=x.npy --output-dir o --device default", 2, "expected cpu, cuda"},
           {"a.tutti --input x=x.npy --output-dir o --threads 0", 2, "--threads: '0' given: expected a whole number"},
           {"a.tutti --input x=x.npy --output-dir o --threads 0x2", 2,
            "--threads: '0x2' given: expected a whole number"},
           {"a.tutti --input x=record.npy --output-dir o", 2,
            "elements of type '[('a', '<f4'), ('b]', '<i2')]', expected"},
           {"a.tutti --input x=deep.npy --output-dir o", 2, "has 17 dims, expected at most"},
           {"a.tutti --input x=x.npy --output-dir a.tutti/o", 6, "a.tutti"},
           {"a.tutti --input x=x.npy --output-dir /proc/nothing", 6, "/proc/nothing"},
       }) {
    EXPECT_EQ(tool("tutti-run", c.arguments), c.code) << c.arguments << "\n" << err;
    EXPECT_NE(err.find(c.message), std::string::npos) << c.arguments << "\n" << err;
    EXPECT_EQ(out, "") << c.arguments;
    EXPECT_FALSE(fs::exists(folder / "o")) << c.arguments;
  }
}

TEST_F(Tools, runWritesNoFileTwice) {
  fs::create_directories(folder / "o");
  for (const char *name : {"o/y.npy", "o/y.mean.npy"})
    fs::create_symlink(path("x.npy"), path(name));
  writeInput("z.npy", 5);
  auto before = fs::last_write_time(path("x.npy"));
  EXPECT_EQ(tool("tutti-run", "a.tutti --input x=z.npy --output-dir o"), 2);
  EXPECT_NE(err.find("leads to "), std::string::npos) << err;
  EXPECT_EQ(fs::last_write_time(path("x.npy")), before);
}

TEST_F(Tools, numbersAreDecimal) {
  EXPECT_EQ(tool("tutti-run", "a.tutti --input x=x.npy --output-dir o --threads 2 --repeat 08"), 0) << err;
  EXPECT_EQ(out.find("8 runs on 2 threads"), 0u) << out;
}

TEST_F(Tools, resultsGoToAFileThatCanBeWritten) {
  for (auto [file, code, message] :
       std::initializer_list<std::tuple<const char *, int, const char *>>{{"-", 2, "--json is '-': expected a file"},
                                                                          {".", 6, "it is a folder"},
                                                                          {"none/j.json", 6, "none/j.json"},
                                                                          {"a.tutti", 2, "the artifact"}}) {
    EXPECT_EQ(tool("tutti-bench", std::string("a.tutti --seconds 0.01 --json ") + file), code) << err;
    EXPECT_NE(err.find(message), std::string::npos) << err;
    EXPECT_EQ(out, "") << "nothing is timed before";
  }
}

TEST_F(Tools, foldersMayHaveEqualsSigns) {
  fs::create_directories(folder / "lr=0.1" / "x=2");
  writeInput("lr=0.1/x=2/x=3.npy", 5);
  EXPECT_EQ(tool("tutti-run", "a.tutti --input x=lr=0.1/x=2/x=3.npy --output-dir o"), 0) << err;
  EXPECT_EQ(tool("tutti-run", "a.tutti --input z=lr=0.1/x.npy --output-dir o"), 2);
  EXPECT_NE(err.find("there is no input 'z=lr'"), std::string::npos) << err;
}

TEST_F(Tools, runLeavesNothingWhereNobodyReads) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]); // nobody will read what it prints
  std::string command = "cd '" + folder.string() + "' && '" TUTTI_TOOLS "/tutti-run' a.tutti --input x=x.npy " +
                        "--output-dir o --repeat 3 >&" + std::to_string(ends[1]);
  EXPECT_NE(std::system(command.c_str()), 0);
  close(ends[1]);
  EXPECT_FALSE(fs::exists(folder / "o"));
}

TEST_F(Tools, aFileThatIsReplacedKeepsItsMode) {
  ASSERT_EQ(tool("tutti-run", "a.tutti --input x=x.npy --output-dir o"), 0) << err;
  fs::permissions(folder / "o/y.npy", fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_EQ(tool("tutti-run", "a.tutti --input x=x.npy --output-dir o"), 0) << err;
  EXPECT_EQ(fs::status(folder / "o/y.npy").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Tools, runLeavesNothingOnAFullDisk) {
  // No file may grow past 512 bytes: the first output does not fit.
  EXPECT_EQ(tool("tutti-run", "a.tutti --input x=x.npy --output-dir o", "ulimit -f 1;"), 6) << err;
  EXPECT_NE(err.find("cannot write 'o/y"), std::string::npos) << err;
  EXPECT_FALSE(fs::exists(folder / "o"));
}

TEST_F(Tools, severalFilesAreReplacedTogetherOrNotAtAll) {
  auto textOf = [&](const char *name) {
    std::ifstream in(path(name));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  auto filesNow = [&] { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); };
  std::ofstream(path("old")) << "before";
  auto files = filesNow();
  {
    OutputFiles out;
    for (const char *name : {"old", "new", "folder"})
      ASSERT_FALSE(out.write(path(name), {"after"}));
    fs::create_directory(path("folder")); // which no file replaces
    EXPECT_TRUE(out.commit());
  }
  EXPECT_EQ(textOf("old"), "before");
  EXPECT_FALSE(fs::exists(path("new")));
  fs::remove(path("folder"));
  EXPECT_EQ(filesNow(), files);
  OutputFiles out;
  for (const char *name : {"old", "new"})
    ASSERT_FALSE(out.write(path(name), {"after"}));
  EXPECT_FALSE(out.commit());
  EXPECT_EQ(textOf("old") + textOf("new"), "afterafter");
  EXPECT_EQ(filesNow(), files + 1);
}

TEST_F(Tools, inspectSpeaksJson) {
  ASSERT_EQ(tool("tutti-inspect", "a.tutti --json --verify"), 0) << err;
  auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["members"].size(), 3u);
  EXPECT_EQ(json["inputs"][0]["name"], "x");
  EXPECT_EQ(json["inputs"][0]["dtype"], "float32");
  EXPECT_EQ(json["inputs"][0]["dims"], nlohmann::json({"batch", 6}));
  EXPECT_EQ(json["outputs"].size(), 2u);
  EXPECT_EQ(json["targets"][0]["name"], "x86-64-v3");
  EXPECT_EQ(json["programs"][0]["launches"], 2);
  EXPECT_TRUE(json["programs"][0]["arena_bytes"].is_number_integer());
  EXPECT_EQ(json["programs"][0]["target"], "cpu");
  EXPECT_EQ(json["programs"][0]["sizes"][0]["name"], "batch");
  EXPECT_EQ(json["kernels"][0]["family"], "contract");
  EXPECT_EQ(json["kernels"][0]["images"].size(), 1u);
  uint64_t total = 0;
  for (const auto &slot : json["slots"]) {
    EXPECT_EQ(slot["shared"], false);
    total += slot["bytes"].get<uint64_t>();
  }
  EXPECT_EQ(json["weights_bytes"], total);
  ASSERT_EQ(tool("tutti-inspect", "a.tutti"), 0);
  EXPECT_NE(out.find("m2.onnx"), std::string::npos);
}

TEST_F(Tools, inspectFindsDamagedWeights) {
  std::fstream file(path("a.tutti"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-100, std::ios::end);
  file.put('\x7f');
  file.close();
  EXPECT_EQ(tool("tutti-inspect", "a.tutti"), 0);
  EXPECT_EQ(tool("tutti-inspect", "a.tutti --verify"), 3);
  EXPECT_NE(err.find("weights in segment 1 are damaged"), std::string::npos) << err;
}

TEST_F(Tools, benchMeasuresEveryBinding) {
  ASSERT_EQ(tool("tutti-bench", "a.tutti --dim batch=1,64 --active 1,2 --threads 2 --seconds 0.02 --json b.json"), 0)
      << err;
  std::ifstream in(path("b.json"));
  auto json = nlohmann::json::parse(in);
  ASSERT_EQ(json.size(), 2u);
  for (const auto &entry : json) {
    EXPECT_GE(entry["runs"], 20);
    EXPECT_EQ(entry["threads"], 2);
    EXPECT_LE(entry["p10_us"], entry["median_us"]);
    EXPECT_LE(entry["median_us"], entry["p90_us"]);
    EXPECT_LE(entry["p90_us"], entry["p99_us"]);
    EXPECT_GT(entry["cold_us"], 0);
    EXPECT_GT(entry["limit_us"], 0);
    EXPECT_TRUE(entry["bound"] == "flops" || entry["bound"] == "bytes");
  }
  EXPECT_EQ(json[1]["flops"], 2.0 * kK * kN * 64 * 2);
  EXPECT_EQ(json[1]["bytes"], 4 * (2 * (kK * kN + kN) + 64 * kK + 2 * 64 * kN + 64 * kN));
  EXPECT_EQ(tool("tutti-bench", "a.tutti --seconds 0.02 --json /dev/stdout"), 0)
      << "a device is written to, not replaced";
  EXPECT_EQ(out.find("batch=64 3 members"), 0u) << "goes on behind what is there: " << out;
  EXPECT_NE(out.find("median_us"), std::string::npos);
  EXPECT_EQ(tool("tutti-bench", "a.tutti --dim rows=1"), 2);
  EXPECT_NE(err.find("there is no dimension 'rows'; the artifact has 'batch'"), std::string::npos) << err;
  EXPECT_EQ(tool("tutti-bench", "a.tutti --dim batch=65"), 2);
  EXPECT_EQ(tool("tutti-bench", "a.tutti --dim batch=x"), 2);
  EXPECT_EQ(tool("tutti-bench", "a.tutti --seconds 0.02 --json /nowhere/b.json"), 6);
}

TEST_F(Tools, filesBelowDevAreFiles) {
  if (!fs::is_directory("/dev/shm"))
    GTEST_SKIP() << "no /dev/shm";
  std::string file = "/dev/shm/tutti-" + std::to_string(getpid()) + ".json";
  for (size_t before : {0, 100'000}) {
    if (before)
      std::ofstream(file) << std::string(before, '{');
    EXPECT_EQ(tool("tutti-bench", "a.tutti --seconds 0.02 --json " + file), 0) << err;
    std::ifstream in(file);
    EXPECT_TRUE(nlohmann::json::accept(in)) << before << " bytes were there";
  }
  fs::remove(file);
}

TEST_F(Tools, theDispatcherFindsItsTools) {
  EXPECT_EQ(tool("tutti", "--help"), 0);
  EXPECT_NE(out.find("inspect"), std::string::npos);
  EXPECT_EQ(tool("tutti", "inspect a.tutti"), 0);
  EXPECT_EQ(tool("tutti", "help run"), 0);
  EXPECT_NE(out.find("Example"), std::string::npos);
  EXPECT_EQ(tool("tutti", ""), 2);
  EXPECT_EQ(tool("tutti", "juggle"), 2);
  EXPECT_NE(err.find("there is no tool 'juggle'"), std::string::npos);
  for (const char *name : {"tutti-run", "tutti-bench", "tutti-inspect"}) {
    EXPECT_EQ(tool(name, "--help"), 0);
    EXPECT_NE(out.find("Example:\n  " + std::string(name)), std::string::npos) << out;
    EXPECT_EQ(tool(name, "--version"), 0);
  }
}

TEST_F(Tools, chooseTheDevice) {
  std::string driver = writeCudaArtifact(), run = "c.tutti --input x=x.npy --output-dir ";
  ASSERT_EQ(tool("tutti-run", run + "cuda --repeat 3", driver), 0) << err;
  EXPECT_NE(out.find("3 runs on Fake GPU (sm_90)"), std::string::npos) << out;
  ASSERT_EQ(tool("tutti-run", run + "cpu --repeat 3 --threads 2", "TUTTI_CUDA_DRIVER=/nowhere"), 0) << err;
  EXPECT_NE(out.find("3 runs on 2 threads"), std::string::npos) << "no driver: " << out;
  EXPECT_EQ(readOutput("cuda/y.npy", {3, 5, kN}), readOutput("cpu/y.npy", {3, 5, kN}));
  EXPECT_EQ(readOutput("cuda/y.mean.npy", {5, kN}), readOutput("cpu/y.mean.npy", {5, kN}));
  ASSERT_EQ(tool("tutti-run", run + "second --device cuda:1 --active 2", driver), 0) << err;
  EXPECT_EQ(readOutput("second/y.npy", {1, 5, kN}), expected(inputOf(5), weightOf(2), biasOf(2)));
  ASSERT_EQ(tool("tutti-run", run + "level --target cpu-v3 --repeat 2", driver), 0) << err;
  EXPECT_NE(out.find("threads"), std::string::npos) << "a CPU level asks for the CPU: " << out;

  EXPECT_EQ(tool("tutti-run", run + "o --device cuda", "TUTTI_CUDA_DRIVER=/nowhere"), 5);
  EXPECT_NE(err.find("there is no CUDA driver: /nowhere"), std::string::npos) << err;
  EXPECT_EQ(tool("tutti-run", run + "o --device cuda:2", driver), 5);
  EXPECT_NE(err.find("there is no CUDA device 2"), std::string::npos) << err;
  EXPECT_EQ(tool("tutti-run", run + "o --device emulated", driver), 5);
  EXPECT_NE(err.find("sm_90a, compute_90, none for the emulated device"), std::string::npos) << err;
  EXPECT_FALSE(fs::exists(folder / "o"));
}

TEST_F(Tools, benchAndInspectKnowCuda) {
  std::string driver = writeCudaArtifact();
  ASSERT_EQ(tool("tutti-bench", "c.tutti --seconds 0.02 --dim batch=4 --json t.json", driver), 0) << err;
  EXPECT_NE(out.find("3 members, Fake GPU (sm_90): median"), std::string::npos) << out;
  auto times = nlohmann::json::parse(std::ifstream(path("t.json")));
  EXPECT_EQ(times[0]["device"], "Fake GPU (sm_90)");
  EXPECT_GT(times[0]["limit_us"], 0.0);
  EXPECT_EQ(times[0]["driver"], "CUDA 12.4");
  EXPECT_EQ(times[0]["device_median_us"], 250.0) << "as the fake's events have it";
  EXPECT_NEAR(times[0]["share"], times[0]["limit_us"].get<double>() / 250, 1e-9) << "of what the device takes";
  EXPECT_GE(times[0]["device_runs"], 20);
  EXPECT_GT(times[0]["median_us"], 0.0);
  EXPECT_NE(out.find("driver for CUDA 12.4"), std::string::npos) << out;
  EXPECT_EQ(out.find("emulated"), std::string::npos) << out;
  ASSERT_EQ(tool("tutti-inspect", "c.tutti --json"), 0) << err;
  auto all = nlohmann::json::parse(out);
  EXPECT_EQ(all["programs"][0]["target"], "cuda");
  EXPECT_EQ(all["programs"][0]["launches"], 2);
  EXPECT_EQ(all["programs"][0]["grids"][0]["grid"], (std::vector<int>{16, 3, 1}));
  EXPECT_EQ(all["programs"][1]["target"], "cpu");
  EXPECT_EQ(all["targets"].size(), 3u);
  auto &images = all["kernels"][0]["images"];
  ASSERT_EQ(images.size(), 3u);
  EXPECT_FALSE(images[0].contains("regs")) << "the CPU's";
  EXPECT_EQ(images[1]["target"], "sm_90a");
  EXPECT_EQ(images[1]["regs"], 40);
  EXPECT_GT(images[1]["bytes"], 1000);
  ASSERT_EQ(tool("tutti-inspect", "c.tutti"), 0) << err;
  EXPECT_NE(out.find("grid [16,3,1], block [32,1,1], 0 bytes shared"), std::string::npos) << out;
  EXPECT_NE(out.find("40 registers, 0 bytes shared, 0 bytes of stack, 1 barriers, 64 threads at most"),
            std::string::npos)
      << out;
}
