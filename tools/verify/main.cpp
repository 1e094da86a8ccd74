// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-verify: an artifact's answers against a float64 evaluation of the model files.
#include "Inputs.h"
#include "Ops.h"

#include "artifact_generated.h"
#include "compiler/Compiler.h"
#include "compiler/import/files/MappedFile.h"
#include "runtime/schema/Digest.h"
#include "tools/models/Models.h"

#include <chrono>
#include <unistd.h>

using namespace mlir;
using namespace tutti;
using namespace tutti::tool;

namespace {

Failure failureOf(llvm::Error error) {
  Failure failure;
  llvm::handleAllErrors(
      std::move(error), [&](const CompileError &e) { failure = {e.code, e.message}; },
      [&](const llvm::ErrorInfoBase &e) { failure = {ExitCode::internal, e.message()}; });
  return failure;
}

std::string hex(uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

/// One file for each member, the one that it was compiled from.
Failure checkModels(const Artifact &artifact, const std::vector<MemberFiles> &files, const ImportOptions &import) {
  auto members = artifact.members();
  if (files.size() != members.size())
    return {ExitCode::usage, "the artifact has " + std::to_string(members.size()) +
                                 (members.size() == 1 ? " member, but " : " members, but ") +
                                 std::to_string(files.size()) +
                                 (files.size() == 1 ? " model file is" : " model files are") +
                                 " given; give those that it was compiled from, in their order"};
  for (size_t i = 0; i < files.size(); ++i) {
    auto known = digestOf(files[i], import);
    if (!known)
      return failureOf(known.takeError());
    uint64_t digest = *known;
    if (digest == members[i].digest)
      continue;
    std::string hint = "give the file that it was compiled from, with the same --weights and --bind, or compile the "
                       "artifact again";
    for (size_t m = 0; m < members.size(); ++m)
      if (members[m].digest == digest)
        hint = "it is member " + std::to_string(m) + "'s: give the files in the order of the members";
    return {ExitCode::usage, "member " + std::to_string(i) + " was compiled from " + quote(members[i].source) +
                                 " with digest " + hex(members[i].digest) + ", but " +
                                 quote((files[i].weights.empty() ? files[i].model : files[i].weights)) + " has " +
                                 hex(digest) + "; " + hint};
  }
  return {};
}

/// Binds the symbols of the first model's inputs as the artifact has them bound.
Failure bindDims(const std::string &file, std::span<const tutti_port_t> ports, ImportOptions &options) {
  auto symbols = symbolsOf(file);
  if (!symbols)
    return failureOf(symbols.takeError());
  for (const tutti_port_t &port : ports) {
    const std::vector<std::string> &names = (*symbols)[port.name];
    int32_t first = port.per_member; // past the member axis
    for (int32_t axis = 0; axis + first < port.rank && size_t(axis) < names.size(); ++axis)
      if (const tutti_dim_t &dim = port.dims[axis + first]; !names[axis].empty())
        options.dims[names[axis]] = {dim.lo, dim.hi};
  }
  return {};
}

/// Members done and time left, on a terminal only and only for work over a second.
class Progress {
public:
  explicit Progress(size_t all) : all(all), terminal(isatty(STDERR_FILENO)) {}
  void did(size_t done) {
    double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (!terminal || seconds < 1)
      return;
    std::fprintf(stderr, "\rreference: %zu of %zu members, %.1f a second, %.0f s left%s", done, all, done / seconds,
                 double(all - done) * seconds / double(done), done == all ? "\n" : "   ");
  }

private:
  using Clock = std::chrono::steady_clock;
  size_t all;
  bool terminal;
  Clock::time_point start = Clock::now();
};

/// The reference's answers by output, all active members' stacked.
Failure evaluateMembers(MLIRContext &context, const std::vector<MemberFiles> &files, const ImportOptions &options,
                        const Artifact &artifact, MemberModel first, const Report &report,
                        const std::vector<Tensor> &inputs, std::vector<Answer> &outputs) {
  Ports ports = portsOf(first);
  std::vector<std::vector<Answer>> byOutput(ports.outputs.size());
  Progress progress(report.active.size());
  for (size_t position = 0; position < report.active.size(); ++position) {
    uint32_t m = report.active[position];
    std::optional<MemberModel> own;
    if (m != 0) {
      auto imported = importMember(context, files[m], options, &ports, m);
      if (!imported)
        return failureOf(imported.takeError());
      own = std::move(*imported);
    }
    std::vector<Answer> operands;
    for (size_t i = 0; i < ports.inputs.size(); ++i)
      for (size_t j = 0; j < inputs.size(); ++j)
        if (const tutti_port_t &port = artifact.inputs()[j]; ports.inputs[i] == port.name) {
          HostTensor whole =
              HostTensor::fromBytes(ports.types[i].getElementType(), inputs[j].dims, inputs[j].data.data());
          operands.push_back(given(port.per_member ? unstack(whole, position) : whole));
        }
    auto answers = answer(own ? *own : first, operands, report.precision);
    if (!answers)
      return failureOf(answers.takeError());
    for (auto [all, each] : llvm::zip_equal(byOutput, *answers))
      all.push_back(std::move(each));
    progress.did(position + 1);
  }
  for (std::vector<Answer> &members : byOutput)
    outputs.push_back(stack(std::move(members)));
  return {};
}

Failure judgeOutputs(MLIRContext &context, const Artifact &artifact, const Session &session, const Ports &ports,
                     const std::vector<Answer> &answers, Report &report) {
  for (const tutti_port_t &port : artifact.outputs()) {
    auto output = session.output(port.name, port.head);
    if (!output)
      return output.error();
    Answer expected = answers[llvm::find(ports.outputs, port.name) - ports.outputs.begin()];
    if (std::string_view(port.head) != "members") {
      auto head = underHead(context, expected, port.head);
      if (!head)
        return failureOf(head.takeError());
      expected = std::move(*head);
    }
    ArrayRef<int64_t> dims(output->tensor.dims, output->tensor.rank);
    if (dims != ArrayRef(expected.exact.dims))
      return {ExitCode::internal, "output " + quote(port.name) + " does not have the reference's shape"};
    HostTensor got = HostTensor::fromBytes(expected.exact.element, dims, output->tensor.data);
    report.rows.push_back(judge(got, expected, port.name, port.head, tutti_dtype_name(port.dtype), report.active));
  }
  return {};
}

/// What the artifact has code for: the emulated device's architectures, or the others.
std::vector<const Architecture *> architecturesOf(const Artifact &artifact, bool emulated) {
  std::vector<const Architecture *> found;
  const fb::Root &root = *fb::GetRoot(artifact.info().metadata);
  for (const fb::Kernel *kernel : *root.kernels())
    for (const fb::Image *image : *kernel->images()) {
      const Architecture *architecture = findArchitecture(image->target()->str());
      if (architecture && (architecture->code == Architecture::Code::emulated) == emulated &&
          !llvm::is_contained(found, architecture))
        found.push_back(architecture);
    }
  return found;
}

/// The number of the member's group, of members that align.
uint32_t groupOf(const Artifact &artifact, uint32_t member) {
  const auto *groups = fb::GetRoot(artifact.info().metadata)->groups();
  uint32_t group = 0;
  while (group + 1 < groups->size() && !llvm::is_contained(*groups->Get(group)->members(), member))
    ++group;
  return group;
}

/// Op by op, for the first four of the active members or, when some are out of bounds, the worst: of a group, as others
/// have other ops.
Failure compareByOps(MLIRContext &context, const Arguments &a, const std::vector<MemberFiles> &files,
                     const ImportOptions &options, const Artifact &artifact, const tutti_session_options_t &session,
                     const std::vector<Tensor> &inputs, const Ports &ports, ArrayRef<SizeRange> ranges,
                     Report &report) {
  std::vector<size_t> positions;
  for (const Row &row : report.rows)
    if (!row.ok() && !row.members.empty() && positions.empty())
      positions.push_back(row.worst());
  auto groupAt = [&](size_t position) { return groupOf(artifact, report.active[position]); };
  for (size_t position = 0; position < report.active.size() && positions.size() < 4; ++position)
    if (positions.empty() ||
        (!llvm::is_contained(positions, position) && groupAt(position) == groupAt(positions.front())))
      positions.push_back(position);
  OpRequest request;
  for (size_t position : positions)
    request.members.push_back(files[report.active[position]]);
  request.import = options;
  request.ports = ports;
  request.ranges.assign(ranges.begin(), ranges.end());
  request.shareByContent = artifact.info().share != std::string_view("none");
  request.precision = report.precision;
  request.session = session;
  request.session.program = 0;
  if (artifact.programs()[session.program].device == TUTTI_DEVICE_CUDA)
    request.architectures = architecturesOf(artifact, session.device == TUTTI_DEVICE_EMULATED);
  else if (session.target)
    request.levels = {session.target};
  else
    request.levels = CompileRequest().levels;
  request.sizes = report.sizes;
  request.stopAtFirst = !a.ops;
  for (auto [tensor, port] : llvm::zip_equal(inputs, artifact.inputs())) {
    auto at = llvm::find(ports.inputs, port.name) - ports.inputs.begin();
    HostTensor whole = HostTensor::fromBytes(ports.types[at].getElementType(), tensor.dims, tensor.data.data());
    for (size_t position : port.per_member ? positions : std::vector<size_t>{0})
      request.inputs[port.name].push_back(port.per_member ? unstack(whole, position) : whole);
  }
  auto rows = compareOps(context, request);
  if (!rows)
    return failureOf(rows.takeError());
  report.ops = std::move(*rows);
  return {};
}

/// One program, at one binding of the sizes that it leaves open.
Failure verifyProgram(const Arguments &a, const std::vector<MemberFiles> &files, ImportOptions import,
                      const Artifact &artifact, const tutti_session_options_t &options, std::vector<Tensor> inputs,
                      Report &report) {
  auto created = Session::create(artifact, options);
  if (!created)
    return created.error();
  Session session = std::move(*created);
  const char *precision = artifact.programs()[options.program].precision;
  std::optional<Precision> known = symbolizePrecision(precision);
  if (!known)
    return failureOf(
        fail(ExitCode::unsupported, "the artifact is of the precision " + quote(precision) + ", which is unknown"));
  report.precision = *known;
  if (auto error = session.setActive(report.active))
    return error;
  if (auto failure = bindInputs(a, artifact, inputs, session))
    return failure;
  if (llvm::any_of(inputs, [](const Tensor &input) { return input.dtype == TUTTI_NONE; }))
    report.seed = a.seed;
  if (auto failure = chooseSizes(a, artifact, options.program, inputs, report.sizes))
    return failure;

  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  if (auto failure = bindDims(a.models[0], artifact.inputs(options.program), import))
    return failure;
  auto first = importMember(context, files[0], import, nullptr, 0);
  if (!first)
    return failureOf(first.takeError());
  Ports ports = portsOf(*first);
  SmallVector<SizeRange> ranges = getSizeRanges(*first->module);
  for (std::span side : {artifact.inputs(), artifact.outputs()})
    for (const tutti_port_t &port : side)
      if (!llvm::is_contained(side.data() == artifact.inputs().data() ? ports.inputs : ports.outputs, port.name))
        return {ExitCode::malformed,
                "the artifact's " + quote(port.name) + " is neither input nor output of " + quote(a.models[0])};
  if (auto failure = seedInputs(artifact, options.program, ports, report, session, inputs))
    return failure;
  for (const auto &[name, value] : report.sizes)
    if (auto error = session.setDimension(name, value))
      return error;
  if (auto error = session.run())
    return error;

  std::vector<Answer> answers;
  if (auto failure = evaluateMembers(context, files, import, artifact, std::move(*first), report, inputs, answers))
    return failure;
  if (auto failure = judgeOutputs(context, artifact, session, ports, answers, report))
    return failure;
  print(report);
  if (a.ops || !report.ok()) {
    if (auto failure = compareByOps(context, a, files, import, artifact, options, inputs, ports, ranges, report))
      return failure;
    printOps(report, a.ops);
  }
  return {};
}

Failure verify(Arguments &a) {
  Artifact artifact;
  if (auto failure = openArtifact(a.artifact, artifact))
    return failure;
  std::vector<std::string> names;
  if (std::string message = readModelNames(a.models, names); !message.empty())
    return {ExitCode::usage, message};
  a.models = names;
  names.clear();
  if (std::string message = readModelNames(a.weights, names, "weights"); !message.empty())
    return {ExitCode::usage, message};
  if (!names.empty() && a.models.size() != 1)
    return {ExitCode::usage,
            "--weights gives the members of one model, but " + std::to_string(a.models.size()) + " models are given"};
  std::vector<MemberFiles> files = membersOf(a.models, names);
  if (files.size() == 1 && isMlir(a.models[0])) // one file may hold all members
    for (uint32_t m = 0; m < artifact.info().num_members; ++m) {
      files.resize(m + 1, files[0]);
      files[m].part = names.empty() ? m : -1;
    }
  ImportOptions import;
  if (llvm::Error error = addBinds(a.binds, import))
    return failureOf(std::move(error));
  if (auto failure = checkModels(artifact, files, import))
    return failure;
  if (auto error = artifact.verifyWeights())
    return {error.status(), shown(a.artifact) + ": " + error.message()};

  Report report;
  tutti_session_options_t options;
  if (auto failure = parseDevice(a.device, options))
    return failure;
  report.threads = options.threads;
  if (a.active)
    if (auto failure = parseActive(*a.active, report.active))
      return failure;
  for (uint32_t m = 0; !a.active && m < artifact.info().num_members; ++m)
    report.active.push_back(m);
  std::vector<Tensor> inputs;
  if (auto failure = readInputs(a, artifact, inputs))
    return failure;
  std::vector<tutti_session_options_t> programs;
  if (auto failure = chooseBindings(a, artifact, options, inputs, programs))
    return failure;
  std::vector<Report> reports;
  for (const tutti_session_options_t &program : programs) {
    if (!reports.empty())
      std::printf("\n");
    reports.push_back(report);
    if (auto failure = verifyProgram(a, files, import, artifact, program, inputs, reports.back()))
      return failure;
  }
  if (!a.json.empty()) {
    OutputFiles out;
    if (auto failure = out.write(a.json, {json(reports)}))
      return failure;
    if (auto failure = out.commit())
      return failure;
  }
  if (!llvm::all_of(reports, [](const Report &each) { return each.ok(); }))
    return {ExitCode::differs, "the artifact's results are not within their bounds of the float64 reference"};
  if (!llvm::all_of(reports, [](const Report &each) { return each.opsOk(); }))
    return {ExitCode::differs, "an op by itself is not within its bound of the float64 reference"};
  return {};
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app(
      "Compares an artifact's results with a float64 evaluation of the model files that it was compiled from.\n"
      "Errors are 2-norms relative to the reference's. Ours may be at most 1.25 times that of plain float32 where\n"
      "contractions dominate, twice elsewhere; at a lower precision of plain float32 with operands rounded to it. "
      "Integers\n"
      "and bools have to be equal.",
      "tutti-verify");
  app.footer("Exit 1: out of bounds.\n\nExample:\n  tutti-verify digits.tutti digits_*.onnx --input image=images.npy "
             "--active 0,3,7");
  Arguments a;
  app.add_option("FILE", a.artifact, "the artifact, as tutti-compile made it")->required();
  app.add_option("MODEL", a.models,
                 "the model files that it was compiled from, in their order; @FILE reads names, one a line")
      ->required()
      ->expected(1, -1);
  app.add_option("--weights", a.weights, "the safetensors files, if it was compiled from such; @FILE reads names")
      ->type_name("FILE")
      ->expected(1, -1);
  addRepeated(app, "--bind", a.binds, "NAME=FILE.npy: the constants that inputs were bound to");
  addRepeated(app, "--input", a.inputs, "NAME=FILE.npy; inputs without a file are random numbers");
  addRepeated(app, "--dim", a.dims,
              "NAME=V: the size of a dimension (default: the files', else 32 where the range has it)");
  app.add_option("--active", a.active, "only these members, in this order, such as 0,3,7 (default: all)");
  app.add_option("--seed", a.seed, "of the random inputs (default: 0)")->check(CLI::NonNegativeNumber);
  addDeviceArguments(app, a.device);
  app.add_flag("--ops", a.ops,
               "also every op by itself, on equal inputs: the first out of bounds is named in any case");
  app.add_option("--json", a.json, "also writes the table to FILE as JSON")->type_name("FILE");
  return toolMain(app, argc, argv, [&] { return verify(a); });
}
