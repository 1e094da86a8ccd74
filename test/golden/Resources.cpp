// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernels of each family take of a GPU, as tutti-inspect shows it, beside the golden table resources.txt.
//
//   tutti-golden            compares; exit 1 where a line differs, 77 where there is no NVRTC
//   tutti-golden --update   writes the table
//
// Registers are NVRTC's choice: with another version than the table's only they may differ, and only within the gates.
#include "../laws/Compiled.h"
#include "compiler/codegen/cuda/images/Nvrtc.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <nlohmann/json.hpp>
#include <thread>

using namespace tutti;
using Json = nlohmann::json;
using llvm::formatv;

namespace {

/// One for each family, and a chain whose products are mostly of few k; the heads are the element family's last block,
/// the parts two chains in one launch, the views a chain whose layers read many vectors, some of which members share.
struct Family {
  const char *name, *precision, *text;
  std::vector<std::pair<const char *, llvm::SmallVector<int64_t>>> weights;
};
const char chain[] = R"(
func.func @main(%x: tensor<?x64xf32, #tutti.sizes<batch>>) -> tensor<?x10xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<64x128xf32>
  %b0 = tutti.get @b0 : tensor<128xf32>
  %w1 = tutti.get @w1 : tensor<128x128xf32>
  %w2 = tutti.get @w2 : tensor<128x10xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x128xf32>
  %1 = tutti.add %0, %b0 : tensor<?x128xf32, #tutti.sizes<batch>>, tensor<128xf32>
  %2 = tutti.relu %1 : tensor<?x128xf32, #tutti.sizes<batch>>
  %3 = tutti.contract %2, %w1 "bk,kn->bn" : tensor<?x128xf32, #tutti.sizes<batch>>, tensor<128x128xf32>
  %4 = tutti.tanh %3 : tensor<?x128xf32, #tutti.sizes<batch>>
  %5 = tutti.contract %4, %w2 "bk,kn->bn" : tensor<?x128xf32, #tutti.sizes<batch>>, tensor<128x10xf32>
  return %5 : tensor<?x10xf32, #tutti.sizes<batch>>
}
)";
const std::vector<std::pair<const char *, llvm::SmallVector<int64_t>>> chainWeights = {
    {"w0", {64, 128}}, {"b0", {128}}, {"w1", {128, 128}}, {"w2", {128, 10}}};
const Family families[] = {
    {"chain", "f32", chain, chainWeights},
    {"few",
     "f32",
     R"(
func.func @main(%x: tensor<?x23xf32, #tutti.sizes<batch>>) -> tensor<?x6xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<23x104xf32>
  %b0 = tutti.get @b0 : tensor<104xf32>
  %w1 = tutti.get @w1 : tensor<104x24xf32>
  %w2 = tutti.get @w2 : tensor<24x48xf32>
  %w3 = tutti.get @w3 : tensor<48x6xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x23xf32, #tutti.sizes<batch>>, tensor<23x104xf32>
  %1 = tutti.add %0, %b0 : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104xf32>
  %2 = tutti.tanh %1 : tensor<?x104xf32, #tutti.sizes<batch>>
  %3 = tutti.contract %2, %w1 "bk,kn->bn" : tensor<?x104xf32, #tutti.sizes<batch>>, tensor<104x24xf32>
  %4 = tutti.contract %3, %w2 "bk,kn->bn" : tensor<?x24xf32, #tutti.sizes<batch>>, tensor<24x48xf32>
  %5 = tutti.sigmoid %4 : tensor<?x48xf32, #tutti.sizes<batch>>
  %6 = tutti.contract %5, %w3 "bk,kn->bn" : tensor<?x48xf32, #tutti.sizes<batch>>, tensor<48x6xf32>
  return %6 : tensor<?x6xf32, #tutti.sizes<batch>>
}
)",
     {{"w0", {23, 104}}, {"b0", {104}}, {"w1", {104, 24}}, {"w2", {24, 48}}, {"w3", {48, 6}}}},
    {"row",
     "f32",
     R"(
func.func @main(%x: tensor<?x101xf32, #tutti.sizes<batch>>) -> tensor<?x101xf32, #tutti.sizes<batch>> {
  %s = tutti.get @s : tensor<101xf32>
  %0 = tutti.mul %x, %s : tensor<?x101xf32, #tutti.sizes<batch>>, tensor<101xf32>
  %1 = tutti.reduce max %0 [1] : tensor<?x101xf32, #tutti.sizes<batch>>
  %2 = tutti.sub %0, %1 : tensor<?x101xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  %3 = tutti.exp %2 : tensor<?x101xf32, #tutti.sizes<batch>>
  %4 = tutti.reduce sum %3 [1] : tensor<?x101xf32, #tutti.sizes<batch>>
  %5 = tutti.div %3, %4 : tensor<?x101xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>
  return %5 : tensor<?x101xf32, #tutti.sizes<batch>>
}
)",
     {{"s", {101}}}},
    {"product",
     "f32",
     R"(
func.func @main(%x: tensor<?x256x48xf32, #tutti.sizes<batch>>) -> tensor<?x256x48xf32, #tutti.sizes<batch>> {
  %0 = tutti.contract %x, %x "bsk,btk->bst" : tensor<?x256x48xf32, #tutti.sizes<batch>>, tensor<?x256x48xf32, #tutti.sizes<batch>>
  %1 = tutti.reduce max %0 [2] : tensor<?x256x256xf32, #tutti.sizes<batch>>
  %2 = tutti.sub %0, %1 : tensor<?x256x256xf32, #tutti.sizes<batch>>, tensor<?x256x1xf32, #tutti.sizes<batch>>
  %3 = tutti.contract %2, %x "bst,btk->bsk" : tensor<?x256x256xf32, #tutti.sizes<batch>>, tensor<?x256x48xf32, #tutti.sizes<batch>>
  return %3 : tensor<?x256x48xf32, #tutti.sizes<batch>>
}
)",
     {}},
    {"element",
     "f32",
     R"(
func.func @main(%x: tensor<?x33xf32, #tutti.sizes<batch>>) -> tensor<?x33xf32, #tutti.sizes<batch>> {
  %s = tutti.get @s : tensor<33xf32>
  %0 = tutti.mul %x, %s : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<33xf32>
  %1 = tutti.sin %0 : tensor<?x33xf32, #tutti.sizes<batch>>
  %2 = tutti.sigmoid %1 : tensor<?x33xf32, #tutti.sizes<batch>>
  return %2 : tensor<?x33xf32, #tutti.sizes<batch>>
}
)",
     {{"s", {33}}}},
    {"heads",
     "f32",
     R"(
func.func @main(%x: tensor<?x33xf32, #tutti.sizes<batch>>) -> (tensor<?x33xf32, #tutti.sizes<batch>> {tutti.heads = ["mean", "std", "min", "max", "vote", "quantile:0.3"]}) {
  %s = tutti.get @s : tensor<33xf32>
  %0 = tutti.mul %x, %s : tensor<?x33xf32, #tutti.sizes<batch>>, tensor<33xf32>
  return %0 : tensor<?x33xf32, #tutti.sizes<batch>>
}
)",
     {{"s", {33}}}},
    {"parts",
     "f32",
     R"(
func.func @main(%x: tensor<?x64xf32, #tutti.sizes<batch>>, %z: tensor<?x48xf32, #tutti.sizes<2*batch>>) -> (tensor<?x10xf32, #tutti.sizes<batch>>, tensor<?x96xf32, #tutti.sizes<2*batch>>) {
  %w0 = tutti.get @w0 : tensor<64x128xf32>
  %b0 = tutti.get @b0 : tensor<128xf32>
  %w1 = tutti.get @w1 : tensor<128x10xf32>
  %w2 = tutti.get @w2 : tensor<48x96xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x128xf32>
  %1 = tutti.add %0, %b0 : tensor<?x128xf32, #tutti.sizes<batch>>, tensor<128xf32>
  %2 = tutti.relu %1 : tensor<?x128xf32, #tutti.sizes<batch>>
  %3 = tutti.contract %2, %w1 "bk,kn->bn" : tensor<?x128xf32, #tutti.sizes<batch>>, tensor<128x10xf32>
  %4 = tutti.contract %z, %w2 "bk,kn->bn" : tensor<?x48xf32, #tutti.sizes<2*batch>>, tensor<48x96xf32>
  %5 = tutti.tanh %4 : tensor<?x96xf32, #tutti.sizes<2*batch>>
  return %3, %5 : tensor<?x10xf32, #tutti.sizes<batch>>, tensor<?x96xf32, #tutti.sizes<2*batch>>
}
)",
     {{"w0", {64, 128}}, {"b0", {128}}, {"w1", {128, 10}}, {"w2", {48, 96}}}},
    {"views",
     "bf16",
     R"(
func.func @main(%x: tensor<?x8xf32, #tutti.sizes<batch>>) -> tensor<?x2xf32, #tutti.sizes<batch>> {
  %w0 = tutti.get @w0 : tensor<8x32xf32>
  %b0 = tutti.get @b0 : tensor<32xf32>
  %w1 = tutti.get @w1 : tensor<32x64xf32>
  %b1 = tutti.get @b1 : tensor<64xf32>
  %w2 = tutti.get @w2 : tensor<64x32xf32>
  %b2 = tutti.get @b2 : tensor<32xf32>
  %w3 = tutti.get @w3 : tensor<32x64xf32>
  %b3 = tutti.get @b3 : tensor<64xf32>
  %w4 = tutti.get @w4 : tensor<64x32xf32>
  %b4 = tutti.get @b4 : tensor<32xf32>
  %w5 = tutti.get @w5 : tensor<32x2xf32>
  %b5 = tutti.get @b5 : tensor<2xf32>
  %s = tutti.constant dense<[0.5, 0.53125, 0.5625, 0.59375, 0.625, 0.65625, 0.6875, 0.71875, 0.75, 0.78125, 0.8125, 0.84375, 0.875, 0.90625, 0.9375, 0.96875, 1.0, 1.03125, 1.0625, 1.09375, 1.125, 1.15625, 1.1875, 1.21875, 1.25, 1.28125, 1.3125, 1.34375, 1.375, 1.40625, 1.4375, 1.46875]> : tensor<32xf32>
  %c = tutti.constant dense<[-1.0, -0.9375, -0.875, -0.8125, -0.75, -0.6875, -0.625, -0.5625, -0.5, -0.4375, -0.375, -0.3125, -0.25, -0.1875, -0.125, -0.0625, 0.0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375]> : tensor<32xf32>
  %0 = tutti.contract %x, %w0 "bk,kn->bn" : tensor<?x8xf32, #tutti.sizes<batch>>, tensor<8x32xf32>
  %1 = tutti.add %0, %b0 : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %2 = tutti.sub %1, %c : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %3 = tutti.mul %2, %s : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %4 = tutti.add %3, %c : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %5 = tutti.contract %4, %w1 "bk,kn->bn" : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32x64xf32>
  %6 = tutti.add %5, %b1 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64xf32>
  %7 = tutti.relu %6 : tensor<?x64xf32, #tutti.sizes<batch>>
  %8 = tutti.contract %7, %w2 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x32xf32>
  %9 = tutti.add %8, %b2 : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %10 = tutti.add %1, %9 : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<?x32xf32, #tutti.sizes<batch>>
  %11 = tutti.sub %10, %c : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %12 = tutti.mul %11, %s : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %13 = tutti.add %12, %c : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %14 = tutti.contract %13, %w3 "bk,kn->bn" : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32x64xf32>
  %15 = tutti.add %14, %b3 : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64xf32>
  %16 = tutti.relu %15 : tensor<?x64xf32, #tutti.sizes<batch>>
  %17 = tutti.contract %16, %w4 "bk,kn->bn" : tensor<?x64xf32, #tutti.sizes<batch>>, tensor<64x32xf32>
  %18 = tutti.add %17, %b4 : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %19 = tutti.add %10, %18 : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<?x32xf32, #tutti.sizes<batch>>
  %20 = tutti.sub %19, %c : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %21 = tutti.mul %20, %s : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %22 = tutti.add %21, %c : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32xf32>
  %23 = tutti.relu %22 : tensor<?x32xf32, #tutti.sizes<batch>>
  %24 = tutti.contract %23, %w5 "bk,kn->bn" : tensor<?x32xf32, #tutti.sizes<batch>>, tensor<32x2xf32>
  %25 = tutti.add %24, %b5 : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<2xf32>
  return %25 : tensor<?x2xf32, #tutti.sizes<batch>>
}
)",
     {{"w0", {8, 32}},
      {"b0", {32}},
      {"w1", {32, 64}},
      {"b1", {64}},
      {"w2", {64, 32}},
      {"b2", {32}},
      {"w3", {32, 64}},
      {"b3", {64}},
      {"w4", {64, 32}},
      {"b4", {32}},
      {"w5", {32, 2}},
      {"b5", {2}}}},
};

[[noreturn]] void stop(const llvm::Twine &message) {
  llvm::errs() << "tutti-golden: " << message << "\n";
  exit(1);
}

/// What tutti-inspect says of the family's artifact for every architecture that has cubins.
Json inspected(const Family &family) {
  laws::Model model{"", {}, /*members=*/2, {}, false};
  std::mt19937 generator(1);
  for (const auto &[name, dims] : family.weights) {
    std::string type;
    for (int64_t length : dims)
      type += std::to_string(length) + "x";
    model.text += formatv("tutti.param @{0} : tensor<{1}f32>\n", name, type);
    for (int64_t m = 0; m < model.members; ++m)
      model.params[name].push_back(laws::random(generator, mlir::Float32Type::get(&laws::context()), dims));
  }
  model.text += family.text;
  llvm::SmallString<128> path, said;
  if (llvm::sys::fs::createTemporaryFile("golden", "tutti", path) ||
      llvm::sys::fs::createTemporaryFile("golden", "json", said))
    stop("no temporary file");
  llvm::FileRemover removePath(path), removeSaid(said);
  CompileRequest request;
  request.output = path.str().str();
  request.levels = {};
  request.precision = *symbolizePrecision(family.precision);
  request.jobs = std::max(1u, std::thread::hardware_concurrency());
  for (const Architecture &architecture : architectures())
    if (architecture.code == Architecture::Code::cubin)
      request.cudaTargets.push_back(&architecture);
  auto result = laws::compile(model, request);
  if (!result)
    stop(llvm::Twine(family.name) + ": " + llvm::toString(result.takeError()));
  llvm::StringRef arguments[] = {TUTTI_INSPECT, "--json", path};
  if (llvm::sys::ExecuteAndWait(TUTTI_INSPECT, arguments, std::nullopt, {"", llvm::StringRef(said), std::nullopt}))
    stop("tutti-inspect failed");
  auto text = llvm::MemoryBuffer::getFile(said);
  return Json::parse((*text)->getBuffer().begin(), (*text)->getBuffer().end());
}

/// A line of the table: what is equal for every NVRTC, and the registers.
struct Line {
  std::string rest;
  unsigned registers;
  bool operator==(const Line &) const = default;
};
using Table = std::vector<std::pair<std::string, Line>>; ///< by family, kernel and architecture

const Line *find(const Table &table, const std::string &key) {
  auto found = llvm::find_if(table, [&](const auto &entry) { return entry.first == key; });
  return found == table.end() ? nullptr : &found->second;
}

constexpr char columns[] = "{0,-9}{1,-10}{2,-11}{3,-7}", restColumns[] = "{0,5} {1,6} {2,7} {3,8} {4,7} {5,5}";

Table measured() {
  Table table;
  for (const Family &family : families) {
    Json all = inspected(family);
    std::map<std::string, std::vector<Json>> images;
    for (const Json &kernel : all["kernels"])
      for (const Json &image : kernel["images"])
        images[kernel["name"]].push_back(image);
    auto add = [&](const Json &program, const Json &launch) {
      int64_t threads = 1;
      for (const Json &length : launch["block"])
        threads *= length.get<int64_t>();
      for (const Json &image : images[launch["kernel"]]) {
        if (!llvm::any_of(program["architectures"], [&](const Json &name) { return name == image["target"]; }))
          continue; // architectures that launch it otherwise have programs of their own
        std::string key = formatv(columns, family.name, family.precision, image["entry"].get<std::string>(),
                                  image["target"].get<std::string>());
        Line line = {formatv(restColumns, image["stack"].get<int>(), image["static_shared"].get<int>(),
                             launch["dynamic_shared"].get<int64_t>(), image["barriers"].get<int>(), threads,
                             image["max_threads"].get<int>()),
                     image["regs"].get<unsigned>()};
        if (!find(table, key))
          table.emplace_back(key, line);
      }
    };
    for (const Json &program : all["programs"])
      for (const Json &launch : program["grids"]) {
        add(program, launch);
        for (const Json &alternative : launch.value("alternatives", Json::array()))
          add(program, alternative);
      }
  }
  return table;
}

std::string textOf(const Table &table, const std::string &nvrtc) {
  std::string text =
      R"(# What kernels take of a GPU (test/golden/Resources.cpp): registers of a thread; bytes of stack of a thread, of static
# and dynamic shared memory of a block; barriers; threads of a block, and at most by the launch bounds.
# Made by `tutti-golden --update`.
nvrtc )" +
      nvrtc + "\n\n" + formatv(columns, "# family", "precision", "kernel", "target").str() + " regs " +
      formatv(restColumns, "stack", "static", "dynamic", "barriers", "threads", "most").str() + "\n";
  for (const auto &[key, line] : table)
    text += formatv("{0} {1,4} {2}\n", key, line.registers, line.rest);
  return text;
}

/// The table of a text, and the NVRTC that made it.
Table parsed(llvm::StringRef text, std::string &nvrtc) {
  Table table;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    if (line.consume_front("nvrtc "))
      nvrtc = line.str();
    else if (!line.empty() && !line.starts_with("#")) {
      constexpr size_t keyLength = 9 + 10 + 11 + 7, registersLength = 5; // of `columns`
      unsigned registers = 0;
      if (line.size() < keyLength + registersLength + 1 ||
          line.substr(keyLength, registersLength).trim().getAsInteger(10, registers))
        stop("a line of " TUTTI_RESOURCES " is damaged: " + line);
      table.push_back(
          {line.take_front(keyLength).str(), {line.drop_front(keyLength + registersLength + 1).str(), registers}});
    }
  }
  return table;
}

} // namespace

int main(int count, char **words) {
  bool update = count == 2 && llvm::StringRef(words[1]) == "--update";
  if (count > 1 && !update)
    stop("usage: tutti-golden [--update]");
  llvm::Expected<Nvrtc> nvrtc = Nvrtc::load();
  if (!nvrtc) {
    llvm::outs() << "skipped: " << llvm::toString(nvrtc.takeError()) << "\n";
    return 77;
  }
  std::string version = cudaVersionText(nvrtc->version());
  Table now = measured();
  if (update) {
    std::error_code error;
    llvm::raw_fd_ostream file(TUTTI_RESOURCES, error);
    if (error)
      stop("cannot write " TUTTI_RESOURCES ": " + error.message());
    file << textOf(now, version);
    return 0;
  }
  auto text = llvm::MemoryBuffer::getFile(TUTTI_RESOURCES);
  if (!text)
    stop("cannot read " TUTTI_RESOURCES ": " + text.getError().message());
  std::string known;
  Table golden = parsed((*text)->getBuffer(), known);
  if (known != version)
    llvm::outs() << "The table was made with NVRTC " << known << ", this is " << version
                 << ": registers are not compared, the gates are held.\n";
  unsigned differences = 0;
  auto say = [&](const std::string &key, const Line *was, const Line *is) {
    ++differences;
    auto print = [&](const char *sign, const Line &line) {
      llvm::outs() << sign << " " << formatv("{0} {1,4} {2}\n", key, line.registers, line.rest);
    };
    if (was)
      print("-", *was);
    if (is)
      print("+", *is);
  };
  for (const auto &[key, line] : golden) {
    const Line *found = find(now, key);
    if (!found || found->rest != line.rest || (known == version && found->registers != line.registers))
      say(key, &line, found);
  }
  for (const auto &[key, line] : now)
    if (!find(golden, key))
      say(key, nullptr, &line);
  if (differences)
    llvm::outs() << differences << " lines differ; `tutti-golden --update` writes the table anew.\n";
  return differences ? 1 : 0;
}
