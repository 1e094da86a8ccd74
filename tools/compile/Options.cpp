// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of tutti-compile, as docs/DESIGN.md, section 12, spells it.
#include "Options.h"
#include "dialects/tutti/Heads.h"
#include "tools/common/OutputFiles.h"
#include "tools/models/Models.h"

#include "runtime/schema/Levels.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <sys/stat.h>

namespace tutti {

namespace {

/// Programs of one artifact that lists of sizes may make.
constexpr size_t maxBindings = 256;

llvm::Error usage(const llvm::Twine &message) { return fail(ExitCode::usage, message); }
llvm::Error unsupported(const llvm::Twine &message) { return fail(ExitCode::unsupported, message); }

/// NAME=VALUE, split at the last '='.
llvm::Expected<std::pair<std::string, std::string>> split(const std::string &flag, const std::string &text,
                                                          const llvm::Twine &expected = "NAME=VALUE") {
  if (auto pair = tool::splitAtLast(text))
    return *pair;
  return usage(flag + " " + quote(text) + ": expected " + expected);
}

/// A file that can be opened, not a folder.
llvm::Error checkFile(const std::string &path, const char *what) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return usage(std::string("no ") + what + " file " + quote(path) + ": " + strerror(errno));
  if (S_ISDIR(status.st_mode))
    return usage(quote(path) + " is a directory, expected " +
                 (what == llvm::StringRef("model") ? "an ONNX" : "a safetensors") + " file");
  return llvm::Error::success();
}

llvm::Error addModels(const std::vector<std::string> &given, const std::vector<std::string> &weights,
                      CompileRequest &request) {
  if (std::string message = tool::readModelNames(given, request.models); !message.empty())
    return usage(message);
  if (request.models.empty())
    return usage("no model is given; see tutti-compile --help");
  if (std::string message = tool::readModelNames(weights, request.weights, "weights"); !message.empty())
    return usage(message);
  for (const std::string &model : request.models) {
    if (llvm::StringRef(model).ends_with(".safetensors"))
      return usage(quote(model) + " has weights and no model: give the model, and --weights " + model);
    if (llvm::Error error = checkFile(model, "model"))
      return error;
  }
  if (!weights.empty() && request.weights.empty())
    return usage("--weights names no file");
  if (!weights.empty() && request.models.size() != 1)
    return usage("--weights gives the members of one model, but " + llvm::Twine(request.models.size()) +
                 " models are given");
  for (const std::string &file : request.weights)
    if (llvm::Error error = checkFile(file, "weights"))
      return error;
  return llvm::Error::success();
}

llvm::Error addTargets(const std::vector<std::string> &targets, CompileRequest &request) {
  if (targets.empty())
    return llvm::Error::success();
  request.levels.clear();
  std::string all = llvm::join(targets, ",");
  for (llvm::StringRef target : llvm::split(all, ',')) {
    if (target.empty())
      return usage("--target " + quote(all) + ": expected a target before and behind each comma");
    bool isCpu = false;
    for (const rt::CpuTarget &cpu : rt::kCpuTargets)
      if (target == "cpu" || target == cpu.flag || target == cpu.level) {
        isCpu = true;
        if (!llvm::is_contained(request.levels, cpu.level))
          request.levels.push_back(cpu.level);
      }
    if (isCpu)
      continue;
    auto architectures = parseCudaTarget(target);
    if (!architectures)
      return architectures.takeError();
    for (const Architecture *architecture : *architectures)
      if (!llvm::is_contained(request.cudaTargets, architecture))
        request.cudaTargets.push_back(architecture);
  }
  return llvm::Error::success();
}

/// A CPU has float32 only: alone it is no answer to a wish for less, beside a GPU it keeps what it has, and the
/// artifact notes it.
llvm::Error readPrecision(const std::string &text, CompileRequest &request) {
  std::optional<Precision> precision = symbolizePrecision(text);
  if (!precision)
    return usage("--precision " + shown(text) + ": expected f32, f32-ffma, tf32, bf16 or f16");
  request.precision = *precision;
  bool isFloat32 = precision == Precision::f32 || precision == Precision::f32_ffma;
  if (!isFloat32 && request.cudaTargets.empty())
    return unsupported("--precision " + shown(text) +
                       ": CPUs compute in float32; add a CUDA target, as in --target cuda");
  return llvm::Error::success();
}

/// "512MiB", "2GB", "4096"; nothing when it is no such number, or none that 63 bits hold.
std::optional<uint64_t> parseBytes(llvm::StringRef text) {
  static constexpr std::pair<llvm::StringRef, uint64_t> units[] = {{"KiB", uint64_t(1) << 10},
                                                                   {"MiB", uint64_t(1) << 20},
                                                                   {"GiB", uint64_t(1) << 30},
                                                                   {"TiB", uint64_t(1) << 40},
                                                                   {"KB", 1000},
                                                                   {"MB", 1000000},
                                                                   {"GB", 1000000000},
                                                                   {"TB", 1000000000000},
                                                                   {"B", 1}};
  uint64_t factor = 1, number;
  for (const auto &[name, bytes] : units)
    if (text.consume_back_insensitive(name)) {
      factor = bytes;
      break;
    }
  if (text.rtrim().getAsInteger(10, number) || number > uint64_t(INT64_MAX) / factor)
    return std::nullopt;
  return number * factor;
}

llvm::Error addDim(const std::string &text, CompileRequest &request) {
  constexpr llvm::StringLiteral forms = "NAME=VALUE or NAME=LO..HI with 1 <= LO <= HI, or NAME=VALUE,VALUE,...";
  auto pair = split("--dim", text, forms);
  if (!pair)
    return pair.takeError();
  auto [name, value] = *pair;
  auto wrong = [&] { return usage("--dim " + quote(text) + ": expected " + forms); };
  if (request.import.dims.contains(name) || request.dimLists.contains(name))
    return usage("--dim " + shown(name) + " is given twice");
  if (value.find(',') != std::string::npos) {
    std::vector<int64_t> &values = request.dimLists[name];
    for (llvm::StringRef each : llvm::split(value, ','))
      if (int64_t number; each.getAsInteger(10, number) || number < 1)
        return wrong();
      else
        values.push_back(number);
    if (values.size() > maxBindings)
      return usage("--dim " + shown(name) + " has " + llvm::Twine(values.size()) + " values, each a program; at most " +
                   llvm::Twine(maxBindings) + " are possible");
    return llvm::Error::success();
  }
  DimBinding binding;
  llvm::StringRef low(value), high(value);
  if (size_t dots = value.find(".."); dots != std::string::npos) {
    low = llvm::StringRef(value).take_front(dots);
    high = llvm::StringRef(value).drop_front(dots + 2);
  }
  if (low.getAsInteger(10, binding.lo) || high.getAsInteger(10, binding.hi) || binding.lo < 1 ||
      binding.hi < binding.lo)
    return wrong();
  binding.listed = binding.lo == binding.hi; // a list of one
  request.import.dims.emplace(name, binding);
  return llvm::Error::success();
}

/// Lists are taken together, first with first, and each place in them makes a program that no other makes.
llvm::Error checkLists(const CompileRequest &request) {
  if (request.dimLists.empty())
    return llvm::Error::success();
  const auto &[first, values] = *request.dimLists.begin();
  for (const auto &[name, others] : request.dimLists)
    if (others.size() != values.size())
      return usage("--dim " + shown(first) + " has " + llvm::Twine(values.size()) + " values and --dim " + shown(name) +
                   " has " + llvm::Twine(others.size()) +
                   "; lists are taken together, first with first, so give equally many");
  std::map<std::vector<int64_t>, size_t> seen;
  for (size_t i = 0; i < values.size(); ++i) {
    std::vector<int64_t> binding;
    std::string text;
    for (const auto &[name, others] : request.dimLists) {
      binding.push_back(others[i]);
      text += (text.empty() ? "" : ", ") + shown(name) + "=" + std::to_string(others[i]);
    }
    if (auto [place, fresh] = seen.emplace(binding, i); !fresh)
      return usage("the lists of --dim have " + text + " at places " + llvm::Twine(place->second) + " and " +
                   llvm::Twine(i) + "; one program for it is enough");
  }
  return llvm::Error::success();
}

llvm::Error addInput(const std::string &text, CompileRequest &request) {
  auto pair = split("--input", text, "NAME=shared or NAME=member");
  if (!pair)
    return pair.takeError();
  if (pair->second != "member" && pair->second != "shared")
    return usage("--input " + quote(text) + ": expected NAME=shared or NAME=member");
  if (!request.perMember.try_emplace(pair->first, pair->second == "member").second)
    return usage("--input " + shown(pair->first) + " is given twice");
  return llvm::Error::success();
}

llvm::Error addOutput(const std::string &text, CompileRequest &request) {
  auto pair = split("--output", text, llvm::Twine("NAME=HEAD,...; heads are ") + headTexts);
  if (!pair)
    return pair.takeError();
  std::vector<std::string> &heads = request.heads[pair->first];
  for (llvm::StringRef head : llvm::split(pair->second, ',')) {
    std::optional<HeadText> parsed = HeadText::parse(head);
    if (!parsed)
      return usage("--output " + quote(text) + ": heads are " + headTexts);
    if (llvm::any_of(heads, [&](const std::string &other) { return HeadText::parse(other) == parsed; }))
      return usage("--output " + quote(text) + ": the head " + head + " is listed twice");
    heads.push_back(head.str());
  }
  return llvm::Error::success();
}

/// That predictions can be made for; without a name it is the one marked.
constexpr llvm::StringLiteral usualDevice = "H100";
std::string knownDevices() {
  std::string known;
  for (const DeviceModel &model : deviceModels())
    known += (known.empty() ? "" : ", ") + model.name.str() + (model.name == usualDevice ? " (default)" : "");
  return known;
}

llvm::Error addExplanation(const std::string &device, const std::vector<std::string> &sizes, CompileOptions &options) {
  const char *flag = !device.empty() ? "--explain-for" : !sizes.empty() ? "--explain-at" : nullptr;
  if (flag && options.explain.empty())
    return usage(std::string(flag) + " needs --explain");
  if (flag && options.request.cudaTargets.empty())
    return usage(std::string(flag) + " is about code for GPUs: add a target as --target cuda");
  options.request.estimate = !options.explain.empty();
  options.explainFor = findDeviceModel(device.empty() ? usualDevice.str() : device);
  if (!options.explainFor)
    return usage("--explain-for " + quote(device) + ": unknown; the model knows " + knownDevices());
  for (const std::string &text : sizes) {
    auto pair = split("--explain-at", text);
    if (!pair)
      return pair.takeError();
    int64_t value;
    if (llvm::StringRef(pair->second).getAsInteger(10, value) || value < 1)
      return usage("--explain-at " + quote(text) + ": expected NAME=VALUE with a value of 1 or more");
    if (!options.request.estimateAt.try_emplace(pair->first, value).second)
      return usage("--explain-at " + shown(pair->first) + " is given twice");
  }
  return llvm::Error::success();
}

/// The flags as they are given.
struct Flags {
  std::vector<std::string> models, weights, targets, inputs, dims, binds, outputs, explainAt;
  std::string share = "content", precision = "f32", stop, randomness = "error", explainFor, memory;
  bool fast = false;
  uint32_t jobs = tool::defaultThreads();
};

/// The command line, in the order in which --help has it.
void declare(CLI::App &app, Flags &flags, CompileOptions &options) {
  CompileRequest &request = options.request;
  app.add_option("MODEL", flags.models,
                 "ONNX files, or MLIR files of the tutti dialect (.mlir), in the order of the members; @FILE reads "
                 "names, one a line")
      ->expected(1, -1);
  app.add_option("--weights", flags.weights,
                 "safetensors files, each a member of the one MODEL: their tensors take the place of its initializers, "
                 "by name; @FILE reads names")
      ->type_name("FILE")
      ->expected(1, -1);
  app.add_option("-o,--out", request.output, "the artifact to write, or the IR of --stop-after (-: prints it)")
      ->type_name("FILE");
  app.add_option("--target", flags.targets,
                 "cpu (every level; the default), cpu-v3, cpu-avx512, cuda (every architecture but Jetsons'), sm_90a "
                 "..., emulated, "
                 "emulated-sm_75 ...")
      ->type_name("T,...");
  app.add_option("--input", flags.inputs,
                 "NAME=shared (default) or NAME=member: one array a member, the member axis first")
      ->type_name("NAME=KIND");
  app.add_option("--dim", flags.dims,
                 "NAME=V or NAME=LO..HI binds a symbolic dimension; NAME=V,V,... makes a program for each value over "
                 "the same weights, lists of several dimensions taken together")
      ->type_name("NAME=V");
  app.add_option(
         "--bind", flags.binds,
         "NAME=FILE.npy: an input becomes a constant, the same for all members; the artifact has that input no more")
      ->type_name("NAME=FILE");
  app.add_option("--output", flags.outputs, "NAME=HEAD,...: members, mean, var, std, min, max, vote, quantile:Q")
      ->type_name("NAME=HEAD,...");
  app.add_option(
         "--share", flags.share,
         "content: equal weights are stored and computed once (default); none: every float weight stays per member")
      ->type_name("MODE");
  app.add_option(
         "--randomness", flags.randomness,
         "how members draw random numbers: error (default), same or different; no op that draws any is supported "
         "yet")
      ->type_name("MODE");
  app.add_option("--precision", flags.precision,
                 "how CUDA devices multiply rows by weights: f32 (float32 in pieces on tensor cores; the default), "
                 "f32-ffma (the CPU's bits), "
                 "tf32, bf16, f16 (rounded operands, float32 sums); a CPU computes in float32")
      ->type_name("P");
  app.add_flag("--fast-math", flags.fast)->group(""); // refused, by name; no help offers it
  app.add_flag("--unequal", request.unequal,
               "members may differ in structure: those that align are a group, all run in one program");
  app.add_option("--memory-limit", flags.memory,
                 "what a session on one thread may take, weights, inputs and outputs with it: bytes, or 512MiB, 2GB "
                 "...; past it members run in pieces")
      ->type_name("BYTES");
  tool::wholeNumber(app.add_option("--jobs", flags.jobs, "threads of the compiler (default: the CPUs of this process)"),
                    1, 1024)
      ->type_name("N");
  app.add_option("--stop-after", flags.stop,
                 "the last stage: model, batched, kernels or planned, whose IR goes to -o or is printed; binary (the "
                 "default) writes the artifact")
      ->type_name("STAGE");
  app.add_option("--dump-stages", request.dumpFolder, "writes the IR after each stage into a folder")->type_name("DIR");
  app.add_flag("--explain{text}", options.explain, "says what each kernel became; --explain=json for machines");
  app.add_option("--explain-for", flags.explainFor,
                 "the GPU whose predicted times --explain shows in detail: " + knownDevices())
      ->type_name("DEVICE");
  app.add_option("--explain-at", flags.explainAt,
                 "NAME=V: a size of the call that is predicted, active for the members; else the largest")
      ->type_name("NAME=V");
  for (CLI::Option *option : app.get_options())
    if (option->get_items_expected_max() > 1 && option->get_name() != "MODEL" && option->get_name() != "--weights")
      option->allow_extra_args(false);
}

/// The flags that are one word each.
llvm::Error setModes(const Flags &flags, CompileOptions &options) {
  CompileRequest &request = options.request;
  auto absent = [&](const char *flag) { return unsupported(std::string(flag) + " is not supported yet"); };
  if (flags.fast)
    return absent("--fast-math");
  if (flags.randomness != "error" && flags.randomness != "same" && flags.randomness != "different")
    return usage("--randomness " + shown(flags.randomness) + ": expected error, same or different");
  if (flags.share != "content" && flags.share != "none")
    return usage("--share " + shown(flags.share) + ": expected content or none");
  request.shareByContent = flags.share == "content";
  if (!options.explain.empty() && options.explain != "text" && options.explain != "json")
    return usage("--explain=" + shown(options.explain) + ": expected --explain or --explain=json");
  if (!flags.memory.empty()) {
    request.memoryLimit = parseBytes(flags.memory);
    if (!request.memoryLimit)
      return usage("--memory-limit " + quote(flags.memory) +
                   ": expected a whole number of bytes, or one with KB, MB, GB, TB, KiB, MiB, GiB or TiB");
  }
  request.jobs = std::max<uint64_t>(1, flags.jobs);
  if (!flags.stop.empty()) {
    auto *stage = llvm::find_if(stages(), [&](auto &entry) { return entry.first == flags.stop; });
    if (stage == stages().end())
      return usage("--stop-after " + shown(flags.stop) + ": the stages are model, batched, kernels, planned, binary");
    request.stopAfter = stage->second;
    if (!options.explain.empty() && request.stopAfter != Stage::binary)
      std::fprintf(stderr,
                   "tutti-compile: note: --explain says what the kernels became, and --stop-after %s ends before\n",
                   flags.stop.c_str());
  }
  return llvm::Error::success();
}

/// What is read is not written over.
llvm::Error checkOutput(const Flags &flags, const CompileRequest &request) {
  std::vector<tool::ReadFile> read;
  for (const auto *given : {&flags.models, &flags.weights})
    for (const std::string &text : *given)
      if (llvm::StringRef(text).starts_with("@"))
        read.push_back({text.substr(1), "a list of names"});
  for (const std::string &model : request.models)
    read.push_back({model, "one of the models"});
  for (const std::string &weights : request.weights)
    read.push_back({weights, "a file of --weights"});
  for (const auto &[name, bound] : request.import.binds)
    read.push_back({bound.file, "a file of --bind"});
  for (const tool::ReadFile &file : read) {
    std::error_code unknown; // there is no such folder
    std::filesystem::path path = file.path, folder = path.has_parent_path() ? path.parent_path() : ".";
    if (path.extension() == ".mlir" && std::filesystem::equivalent(folder, request.dumpFolder, unknown))
      return usage("--dump-stages " + quote(request.dumpFolder) + " has " + file.what + ", " + quote(file.path) +
                   ", which might be written over; name another folder");
  }
  tool::Failure failure = tool::checkOutput("-o", request.output, read);
  return failure ? fail(failure.code, failure.message) : llvm::Error::success();
}

/// What the flags say, as options; the first thing that is wrong with them.
llvm::Error fill(const Flags &flags, CompileOptions &options) {
  CompileRequest &request = options.request;
  if (llvm::Error error = setModes(flags, options))
    return error;
  if (llvm::Error error = addTargets(flags.targets, request))
    return error;
  if (llvm::Error error = readPrecision(flags.precision, request))
    return error;
  for (const std::string &text : flags.dims)
    if (llvm::Error error = addDim(text, request))
      return error;
  if (llvm::Error error = checkLists(request))
    return error;
  for (const std::string &text : flags.inputs)
    if (llvm::Error error = addInput(text, request))
      return error;
  for (const std::string &text : flags.outputs)
    if (llvm::Error error = addOutput(text, request))
      return error;
  if (llvm::Error error = addExplanation(flags.explainFor, flags.explainAt, options))
    return error;
  if (llvm::Error error = tool::addBinds(flags.binds, request.import))
    return error;
  if (llvm::Error error = addModels(flags.models, flags.weights, request))
    return error;
  if (request.output.empty() && request.stopAfter == Stage::binary && options.explain.empty())
    return usage("no artifact is named: add -o FILE.tutti");
  if (request.output == "-" && request.stopAfter == Stage::binary)
    return usage("-o -: an artifact is no text for standard output; name a file (./- is one, too)");
  if (request.output == "-")
    request.output.clear(); // IR is printed
  request.import.output = request.output;
  return checkOutput(flags, request);
}

} // namespace

std::optional<int> parseOptions(int argc, char **argv, CompileOptions &options) {
  CLI::App app{"Compiles N model files, each a member of an ensemble, into one artifact.", "tutti-compile"};
  app.footer("Example: tutti-compile member_*.onnx -o ensemble.tutti --output y=mean,std");
  Flags flags;
  declare(app, flags, options);
  tool::prepare(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return tool::exitOf(app, error);
  }
  if (llvm::Error error = fill(flags, options)) {
    CompileError e = compileErrorOf(std::move(error));
    std::fprintf(stderr, "tutti-compile: error: %s\n", e.message.c_str());
    return int(e.code);
  }
  return std::nullopt;
}

} // namespace tutti
