// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every wait, barrier and fence of kernel text is there for a reason: each line that has one is taken out of the
// skeleton or the emitted text, and for some shape the emulated device must then fail, or answer something else for one
// of a few orders of threads. The lines come from the text itself; what cannot be noticed there stands in
// justified.txt, with the reason.
//
//   tutti-barriers                           tests all; exit 1 where a line is not missed
//   tutti-barriers compile SHAPE ARTIFACT    compiles a shape
//   tutti-barriers run SHAPE ARTIFACT        runs it, and prints what it answers
#include "../emulated/Emulated.h"
#include "../laws/Compiled.h"
#include "Shapes.h"
#include "compiler/codegen/cuda/images/DeviceText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <regex>
#include <set>

using namespace tutti;
using llvm::StringRef;

namespace {

constexpr int64_t members = 2;
constexpr int seeds = 8; // of as many, one sees a block of a cluster that does not wait for the others

[[noreturn]] void stop(const llvm::Twine &message) {
  llvm::errs() << "tutti-barriers: " << message << "\n";
  exit(2);
}

template <class T> T take(llvm::Expected<T> value) {
  if (!value)
    stop(llvm::toString(value.takeError()));
  return std::move(*value);
}

laws::Model modelOf(const Shape &shape) {
  laws::Model model{"", {}, members, {}, false};
  model.mostRows = std::max(model.mostRows, shape.rows);
  std::mt19937 generator(1);
  for (const auto &[name, dims] : shape.weights) {
    std::string type;
    for (int64_t length : dims)
      type += std::to_string(length) + "x";
    model.text += llvm::formatv("tutti.param @{0} : tensor<{1}f32>\n", name, type);
    for (int64_t m = 0; m < members; ++m)
      model.params[name].push_back(laws::random(generator, mlir::Float32Type::get(&laws::context()), dims));
  }
  model.text += shape.text;
  return model;
}

llvm::Expected<CompileResult> compile(const Shape &shape, const std::string &path, const std::string &texts = "") {
  CompileRequest request;
  request.output = path;
  request.levels = {};
  request.cudaTargets = {findArchitecture(shape.target)};
  request.precision = *symbolizePrecision(shape.precision);
  request.dumpFolder = texts;
  return laws::compile(modelOf(shape), request);
}

/// Prints the answers in a few orders of threads; the exit code says that the device has failed.
int run(const Shape &shape, const std::string &path) {
  auto artifact = take(laws::Artifact::open(path));
  std::mt19937 generator(2);
  HostTensor x = laws::random(generator, mlir::Float32Type::get(&laws::context()), {shape.rows, shape.columns});
  for (int seed = 0; seed < seeds; ++seed) {
    tuttiEmulatedSetSeed(seed);
    auto answers = artifact->run(x);
    if (!answers) {
      llvm::outs() << llvm::toString(answers.takeError()) << "\n";
      return 1;
    }
    for (const HostTensor &answer : *answers) {
      for (double value : answer.floats)
        llvm::outs() << llvm::formatv("{0:x-} ", llvm::bit_cast<uint64_t>(value));
      for (int64_t value : answer.ints)
        llvm::outs() << value << " ";
    }
    llvm::outs() << "\n";
  }
  return 0;
}

/// A line of a text that orders threads.
struct Site {
  std::string file, line;
  unsigned number; ///< from 1
  bool operator<(const Site &other) const { return std::tie(file, number) < std::tie(other.file, other.number); }
};

std::vector<Site> sitesOf(const std::string &file, StringRef text) {
  static const std::regex orders(
      R"(\b(__syncthreads|taskSync|rowsSync<\w+>|__syncwarp|__threadfence\w*|__pipeline_wait_prior|barrierSync|)"
      R"(barrierArrive|mbarrierWait|mbarrierArrive|mbarrierArriveTimes|copyAsyncArrive|copyAsyncArriveToo|mbarrierInitFence|bulkFence|clusterSync|)"
      R"(clusterArrive|clusterArriveRelaxed|clusterWait|mbarrierWaitForPeers|handovers\.wait|chunks\.sync|group\.begin|group\.fence|group\.commit|group\.wait|)"
      R"(group\.waitButLast)\()");
  std::vector<Site> sites;
  unsigned number = 0;
  for (StringRef line : llvm::split(text, '\n')) {
    ++number;
    if (std::regex_search(line.split("//").first.str(), orders))
      sites.push_back({file, line.trim().str(), number});
  }
  return sites;
}

/// The headers that a text includes, and theirs.
void addHeaders(StringRef text, std::set<std::string> &names) {
  for (StringRef line : llvm::split(text, '\n')) {
    if (!line.consume_front("#include \"") || !names.insert(line.split('"').first.str()).second)
      continue;
    for (const DeviceHeader &header : deviceHeaders())
      if (header.name == line.split('"').first)
        addHeaders(header.text, names);
  }
}

std::string readFile(const llvm::Twine &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    stop("cannot read " + path + ": " + file.getError().message());
  return (*file)->getBuffer().str();
}

class Test {
public:
  Test() {
    if (llvm::sys::fs::createUniqueDirectory("tutti-barriers", folder))
      stop("cannot make a temporary folder");
    for (StringRef line : llvm::split(readFile(TUTTI_JUSTIFIED), '\n')) {
      auto [file, rest] = line.split('|');
      if (!rest.empty() && !line.starts_with("#"))
        justified.insert({file.trim().str(), rest.split('|').first.trim().str()});
    }
    setenv("TUTTI_CLANG", TUTTI_CLANG_WITHOUT, 1);
    setenv("TUTTI_REAL_CLANG", TUTTI_CLANG, 1);
  }
  ~Test() { llvm::sys::fs::remove_directories(folder); }

  int all() {
    // In skeletons a line has to be missed in one shape that has it, in emitted text where it is.
    std::map<Site, std::vector<const Shape *>> inSkeletons;
    for (const Shape &shape : shapes)
      for (const Site &site : sitesOfShape(shape))
        StringRef(site.file).starts_with("tutti/") ? inSkeletons[site].push_back(&shape) : check(site, {&shape});
    if (!testsPass(""))
      stop("the tests of the skeletons fail as they are");
    for (const auto &[site, users] : inSkeletons)
      check(site, users);
    llvm::outs() << count << " lines, " << failures << " that nothing misses\n";
    return failures ? 1 : 0;
  }

private:
  llvm::SmallString<128> folder;
  std::set<std::pair<std::string, std::string>> justified;
  /// A launch's largest tile of rows, two smaller ones, and the last, on so many multiprocessors with a block each: on
  /// all but the last there are fewer blocks than tasks, so that some go on to another member.
  struct Way {
    const char *tile, *processors;
  };
  static constexpr Way ways[] = {{"0", "1"}, {"1", "5"}, {"2", "9"}, {"9", "100000"}};
  std::map<std::pair<const Shape *, const char *>, std::string> answers; ///< by tile
  std::map<const Shape *, std::string> codes;
  unsigned count = 0, failures = 0;

  std::vector<Site> sitesOfShape(const Shape &shape) {
    std::string texts = (folder + "/" + shape.name).str();
    setenv("TUTTI_WITHOUT", "", 1);
    take(compile(shape, artifact(), texts));
    codes[&shape] = readFile(artifact());
    std::set<std::string> headers, prelude;
    std::vector<Site> sites;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator file(texts, error), end; file != end; file.increment(error))
      if (StringRef(file->path()).ends_with(".cu")) {
        std::string text = readFile(file->path());
        llvm::append_range(sites, sitesOf(llvm::sys::path::filename(file->path()).str(), text));
        addHeaders(text, headers);
      }
    addHeaders("#include \"tutti/prelude.cuh\"", prelude);
    for (const DeviceHeader &header : deviceHeaders())
      if (headers.contains(header.name.str()) && !prelude.contains(header.name.str()))
        llvm::append_range(sites, sitesOf(header.name.str(), header.text));
    for (const Way &way : ways)
      if (std::string &said = answers[{&shape, way.tile}]; answer(shape, way, said))
        stop(llvm::Twine("the shape ") + shape.name + " does not run as it is: " + said);
    return sites;
  }

  std::string artifact() const { return (folder + "/artifact").str(); }

  /// Does one thing with a shape and artifact(), in a process of its own.
  int execute(const char *what, const Shape &shape, std::string &said) {
    std::string output = (folder + "/answer").str(), errors = (folder + "/errors").str(), path = artifact();
    llvm::sys::fs::remove(output); // a longer answer's end would stay
    llvm::sys::fs::remove(errors);
    StringRef arguments[] = {TUTTI_BARRIERS, what, shape.name, path};
    int code =
        llvm::sys::ExecuteAndWait(TUTTI_BARRIERS, arguments, std::nullopt, {"", StringRef(output), StringRef(errors)},
                                  /*SecondsToWait=*/120);
    said = readFile(output);
    if (code == 2 || code < 0)
      stop(llvm::Twine("the shape ") + shape.name + ": " + readFile(errors));
    return code;
  }

  int answer(const Shape &shape, const Way &way, std::string &said) {
    setenv("TUTTI_CUDA_TILE", way.tile, 1);
    setenv("TUTTI_EMULATED_MULTIPROCESSORS", way.processors, 1);
    setenv("TUTTI_EMULATED_BLOCKS", "1", 1);
    setenv("TUTTI_LAWS_TARGET", shape.target, 1);
    setenv("TUTTI_LAWS_PRECISION", shape.precision, 1);
    setenv("TUTTI_EMULATED_CAPABILITY", shape.capability, 1);
    return execute("run", shape, said);
  }

  /// How a shape misses this line, in one of so many orders of threads: it has no code without it, or runs otherwise;
  /// empty: not at all.
  std::string missed(const Shape &shape, const std::string &place, int orders) {
    std::string said;
    setenv("TUTTI_WITHOUT", place.c_str(), 1);
    if (execute("compile", shape, said))
      return llvm::formatv("the host's compiler, in {0}", shape.name);
    if (readFile(artifact()) == codes[&shape])
      return "";
    for (int order = 0; order < orders; ++order) {
      setenv("TUTTI_EMULATED_SEED", std::to_string(order).c_str(), 1);
      for (const Way &way : ways)
        if (answer(shape, way, said) || said != answers[{&shape, way.tile}])
          return llvm::formatv("{0}, tile {1}, order {2}", shape.name, way.tile, order);
    }
    return "";
  }

  /// Of what no geometry that the compiler chooses has, the skeletons' own tests.
  bool testsPass(const std::string &without) {
    setenv("TUTTI_WITHOUT", without.c_str(), 1);
    setenv("TUTTI_EMULATED_CAPABILITY", "90", 1);
    StringRef arguments[] = {TUTTI_EMULATED_TESTS, "--gtest_filter=Orders/Tensor.EveryWayGivesTheSameBits/1"};
    return llvm::sys::ExecuteAndWait(TUTTI_EMULATED_TESTS, arguments, std::nullopt, {"", "", ""}) == 0;
  }

  void check(const Site &site, llvm::ArrayRef<const Shape *> users) {
    ++count;
    std::string place = site.file + ":" + std::to_string(site.number);
    bool isSkeleton = StringRef(site.file).starts_with("tutti/");
    std::string missedBy;
    bool isJustified = justified.contains({site.file, site.line});
    for (int orders : {1, isJustified ? 0 : 8}) // what takes luck to miss gets more of it
      for (const Shape *shape : users)
        if (missedBy.empty())
          missedBy = missed(*shape, place, orders);
    if (missedBy.empty() && isSkeleton && !testsPass(place))
      missedBy = "the tests of the skeletons";
    if (missedBy.empty() == isJustified)
      return;
    ++failures;
    llvm::outs() << (isSkeleton ? "" : std::string(users[0]->name) + ", ") << place << ": " << site.line
                 << (isJustified ? ": justified, and missed all the same, by " + missedBy + ": take it off the list\n"
                                 : ": nothing misses it\n");
  }
};

} // namespace

int main(int words, char **word) {
  if (words == 1)
    return Test().all();
  for (const Shape &shape : shapes)
    if (words == 4 && StringRef(word[2]) == shape.name) {
      if (StringRef(word[1]) == "run")
        return run(shape, word[3]);
      if (StringRef(word[1]) == "compile") {
        auto compiled = compile(shape, word[3]);
        return compiled ? 0 : (llvm::outs() << llvm::toString(compiled.takeError()) << "\n", 1);
      }
    }
  stop("usage: tutti-barriers [(compile | run) SHAPE ARTIFACT]");
}
