// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every wait, barrier and fence of kernel text is there for a reason: each line that has one, of a skeleton or of
// emitted text, is passed over by the emulated device, which must then fail for some shape, or answer something else
// for one of a few orders of threads. The lines come from the text itself; what cannot be noticed there stands in
// justified.txt, with the reason.
//
//   tutti-barriers                           tests all; exit 1 where a line is not missed
//   tutti-barriers run SHAPE ARTIFACT FIRST END
//                                            runs it in orders of threads FIRST to END - 1, and prints what all answer;
//                                            exit 1 where one of them does not
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

#include <chrono>
#include <cstdlib>
#include <regex>
#include <set>

using namespace tutti;
using llvm::StringRef;

namespace {

constexpr int64_t members = 2;
constexpr uint64_t orders = 8; // of as many, one sees a block of a cluster that does not wait for the others

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

/// Prints the answers in the first of these orders of threads; the exit code says that the device has failed in one of
/// them, or answered something else.
int run(const Shape &shape, const std::string &path, uint64_t first, uint64_t end) {
  auto artifact = take(laws::Artifact::open(path));
  std::mt19937 generator(2);
  HostTensor x = laws::random(generator, mlir::Float32Type::get(&laws::context()), {shape.rows, shape.columns});
  std::string said;
  for (uint64_t order = first; order < end; ++order) {
    tuttiEmulatedSetSeed(order);
    auto answers = artifact->run(x);
    if (!answers) {
      llvm::outs() << llvm::toString(answers.takeError()) << "\n";
      return 1;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (const HostTensor &answer : *answers) {
      for (double value : answer.floats)
        stream << llvm::formatv("{0:x-} ", llvm::bit_cast<uint64_t>(value));
      for (int64_t value : answer.ints)
        stream << value << " ";
    }
    if (order == first)
      llvm::outs() << text;
    else if (text != said)
      return 1;
    said = std::move(text);
  }
  return 0;
}

/// A line of a text that orders threads.
struct Site {
  std::string file, line;
  unsigned number;     ///< from 1
  std::string context; ///< the lines before and behind it, and it
  std::string place() const { return file + ":" + std::to_string(number); }
  bool operator<(const Site &other) const { return std::tie(file, number) < std::tie(other.file, other.number); }
};

std::vector<Site> sitesOf(const std::string &file, StringRef text) {
  static const std::regex calls(
      R"(\b(__syncthreads|taskSync|rowsSync<\w+>|__syncwarp|__threadfence\w*|__pipeline_wait_prior|barrierSync|)"
      R"(mbarrierWait|mbarrierArrive|mbarrierArriveTimes|copyAsyncArrive|copyAsyncArriveToo|mbarrierInitFence|bulkFence|clusterSync|)"
      R"(clusterArrive|clusterArriveRelaxed|clusterWait|mbarrierWaitForPeers|handovers\.wait|chunks\.sync|group\.begin|group\.fence|group\.commit|group\.wait|)"
      R"(group\.waitButLast)\()");
  std::vector<Site> sites;                // whoever hands on where it was called from stands for those places
  llvm::SmallVector<StringRef> lines{""}; // the first is number 1
  text.split(lines, '\n');
  lines.push_back("");
  for (unsigned number = 1; number + 1 < lines.size(); ++number)
    if (StringRef line = lines[number];
        !line.contains("TUTTI_AND_THERE") && std::regex_search(line.split("//").first.str(), calls))
      sites.push_back({file, line.trim().str(), number,
                       (lines[number - 1].trim() + "\n" + line.trim() + "\n" + lines[number + 1].trim()).str()});
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
  }
  ~Test() { llvm::sys::fs::remove_directories(folder); }

  int all() {
    // A line has to be missed in one shape that has it. In emitted text, of which each kernel and tile has its own, one
    // that stands between the same two is the same.
    std::map<Site, std::vector<User>> inSkeletons;
    std::map<std::string, std::vector<User>> emitted;
    for (const Shape &shape : shapes)
      for (const Site &site : sitesOfShape(shape))
        (isSkeleton(site) ? inSkeletons[site] : emitted[site.context]).push_back({&shape, site});
    if (!testsPass(""))
      stop("the tests of the skeletons fail as they are");
    for (const auto &[site, users] : inSkeletons)
      check(users);
    for (const auto &[context, users] : emitted)
      check(users);
    llvm::outs() << count << " lines, " << failures << " that nothing misses\n";
    return failures ? 1 : 0;
  }

private:
  /// A shape that has a line.
  struct User {
    const Shape *shape;
    Site site;
  };
  static bool isSkeleton(const Site &site) { return StringRef(site.file).starts_with("tutti/"); }

  llvm::SmallString<128> folder;
  std::set<std::pair<std::string, std::string>> justified;
  /// A launch's largest tile of rows, two smaller ones, and the last, on so many multiprocessors with a block each: on
  /// all but the last there are fewer blocks than tasks, so that some go on to another member.
  struct Way {
    const char *tile, *processors;
  };
  static constexpr Way ways[] = {{"0", "1"}, {"1", "5"}, {"2", "9"}, {"9", "100000"}};
  struct AsItIs {
    std::string answers[std::size(ways)];
    double seconds; ///< that all ways take
  };
  std::map<const Shape *, AsItIs> asTheyAre;
  /// By file, who missed a line of it last, and which way: likely to miss the next.
  std::map<std::string, std::pair<const Shape *, size_t>> missedLast;
  unsigned count = 0, failures = 0;

  std::vector<Site> sitesOfShape(const Shape &shape) {
    std::string texts = (folder + "/" + shape.name).str();
    take(compile(shape, artifact(shape), texts));
    AsItIs &asItIs = asTheyAre[&shape];
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
    auto start = std::chrono::steady_clock::now();
    for (auto [way, said] : llvm::zip(ways, asItIs.answers))
      if (answer(shape, "", way, 0, 1, said))
        stop(llvm::Twine("the shape ") + shape.name + " does not run as it is: " + said);
    asItIs.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return sites;
  }

  std::string artifact(const Shape &shape) const { return (folder + "/" + shape.name + ".tutti").str(); }

  /// Runs a shape in a process of its own, with nothing at a place that orders threads.
  int answer(const Shape &shape, const std::string &without, const Way &way, uint64_t first, uint64_t end,
             std::string &said) {
    setenv("TUTTI_EMULATED_WITHOUT", without.c_str(), 1);
    setenv("TUTTI_CUDA_TILE", way.tile, 1);
    setenv("TUTTI_EMULATED_MULTIPROCESSORS", way.processors, 1);
    setenv("TUTTI_EMULATED_BLOCKS", "1", 1);
    setenv("TUTTI_LAWS_TARGET", shape.target, 1);
    setenv("TUTTI_LAWS_PRECISION", shape.precision, 1);
    setenv("TUTTI_EMULATED_CAPABILITY", shape.capability, 1);
    std::string output = (folder + "/answer").str(), errors = (folder + "/errors").str(), path = artifact(shape),
                from = std::to_string(first), to = std::to_string(end);
    llvm::sys::fs::remove(output); // a longer answer's end would stay
    llvm::sys::fs::remove(errors);
    StringRef arguments[] = {TUTTI_BARRIERS, "run", shape.name, path, from, to};
    int code =
        llvm::sys::ExecuteAndWait(TUTTI_BARRIERS, arguments, std::nullopt, {"", StringRef(output), StringRef(errors)},
                                  /*SecondsToWait=*/120);
    said = readFile(output);
    if (code == 2 || code < 0)
      stop(llvm::Twine("the shape ") + shape.name + ": " + readFile(errors));
    return code;
  }

  /// How a shape misses this line, in one of these orders of threads, the first time from the first on; empty: not at
  /// all.
  std::string missed(const Shape &shape, const Site &site, uint64_t first, uint64_t end) {
    std::string said;
    AsItIs &asItIs = asTheyAre[&shape];
    for (size_t i = 0, last = missedLast[site.file].second; i < std::size(ways); ++i) {
      size_t at = (last + i) % std::size(ways);
      if (answer(shape, site.place(), ways[at], first, end, said) || said != asItIs.answers[at]) {
        missedLast[site.file] = {&shape, at};
        // As it is it has been run in the first order alone.
        if (std::string whole;
            first > 0 && (answer(shape, "", ways[at], first, end, whole) || whole != asItIs.answers[at]))
          stop(llvm::Twine("the shape ") + shape.name + " as it is depends on the order of threads: " + whole);
        return llvm::formatv("{0}, tile {1}, orders {2} to {3}", shape.name, ways[at].tile, first, end - 1);
      }
    }
    return "";
  }

  /// Of what no geometry that the compiler chooses has, the skeletons' own tests.
  bool testsPass(const std::string &without) {
    setenv("TUTTI_EMULATED_WITHOUT", without.c_str(), 1);
    setenv("TUTTI_EMULATED_CAPABILITY", "90", 1);
    llvm::SmallString<128> said(folder);
    llvm::sys::path::append(said, "said");
    StringRef arguments[] = {TUTTI_EMULATED_TESTS, "--gtest_filter=Tensor.EveryWayGivesTheSameBits"};
    int result = llvm::sys::ExecuteAndWait(TUTTI_EMULATED_TESTS, arguments, std::nullopt, {"", said.str(), ""});
    if (!StringRef(readFile(said.c_str())).contains("Running 1 test from 1 test suite"))
      stop("the tests of the skeletons are not there");
    return result == 0;
  }

  void check(llvm::ArrayRef<User> users) {
    ++count;
    const Site &site = users[0].site;
    std::string missedBy;
    bool isJustified = justified.contains({site.file, site.line});
    llvm::SmallVector<const User *> inTurn(llvm::make_pointer_range(users));
    llvm::sort(inTurn, [&](const User *one, const User *other) {
      auto turn = [&](const User &user) {
        return std::tuple(user.shape != missedLast[user.site.file].first, asTheyAre[user.shape].seconds,
                          user.site.place());
      };
      return turn(*one) < turn(*other);
    });
    // Few lines take luck to miss. That nothing misses a justified one is looked at in one order.
    for (uint64_t first = 0, end = 1; first < (isJustified ? 1 : orders); first = end, end *= 2)
      for (const User *user : inTurn)
        if (missedBy.empty())
          missedBy = missed(*user->shape, user->site, first, end);
    if (missedBy.empty() && isSkeleton(site) && !testsPass(site.place()))
      missedBy = "the tests of the skeletons";
    if (missedBy.empty() == isJustified)
      return;
    ++failures;
    llvm::outs() << (isSkeleton(site) ? "" : std::string(users[0].shape->name) + ", ") << site.place() << ": "
                 << site.line
                 << (isJustified ? ": justified, and missed all the same, by " + missedBy + ": take it off the list\n"
                                 : ": nothing misses it\n");
  }
};

} // namespace

int main(int words, char **word) {
  if (words == 1)
    return Test().all();
  for (const Shape &shape : shapes)
    if (uint64_t first, end; words == 6 && StringRef(word[1]) == "run" && StringRef(word[2]) == shape.name &&
                             llvm::to_integer(word[4], first) && llvm::to_integer(word[5], end))
      return run(shape, word[3], first, end);
  stop("usage: tutti-barriers [run SHAPE ARTIFACT FIRST END]");
}
