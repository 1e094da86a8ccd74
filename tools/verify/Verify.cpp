// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models checked, programs run, members evaluated, outputs and ops compared.
#include "Verify.h"
#include "Ops.h"

#include "compiler/Compiler.h"
#include "compiler/import/Member.h"
#include "runtime/schema/artifact_generated.h"
#include "tools/models/Models.h"

#include <chrono>
#include <unistd.h>

using namespace mlir;

namespace tutti {

using namespace tool;

namespace {

Failure failureOf(llvm::Error error) {
  CompileError e = compileErrorOf(std::move(error));
  return {e.code, e.message};
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

DialectRegistry dialects() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

} // namespace

class Verification::Program {
public:
  Program(const Verification &of, const tutti_session_options_t &options, Report &report)
      : arguments(of.arguments), artifact(of.artifact), files(of.files), options(options), import(of.import),
        inputFiles(of.inputFiles), inputs(of.inputs), report(report) {}

  Failure verify();

private:
  Failure openSession();
  Failure bindDims();
  Failure readFirst();
  Failure runSession();
  Failure judgeBy(Dominance dominance);
  Failure evaluateMembers(Dominance dominance);
  Failure judgeOutputs();
  Failure compareByOps();
  std::vector<size_t> positionsToCompare() const;
  std::vector<const Architecture *> architectures() const;
  uint32_t groupAt(size_t position) const;
  /// The input's tensor, of the type that the model has for it.
  HostTensor tensorOf(const Tensor &tensor, size_t port) const {
    return HostTensor::fromBytes(ports.types[port].getElementType(), tensor.dims, tensor.data.data());
  }

  const Arguments &arguments;
  const Artifact &artifact;
  const std::vector<MemberFiles> &files;
  const tutti_session_options_t &options;
  ImportOptions import; ///< with the sizes as the program has them bound
  const std::vector<std::string> &inputFiles;
  std::vector<Tensor> inputs;
  Report &report;

  Session session;
  MLIRContext context{dialects(), MLIRContext::Threading::DISABLED};
  std::optional<MemberModel> first;
  Ports ports; ///< the first model's, with the sizes of its module
  SmallVector<SizeRange> ranges;
  std::vector<Answer> answers; ///< the reference's by output, all active members' stacked
};

Failure Verification::Program::verify() {
  if (auto failure = openSession())
    return failure;
  if (auto failure = readFirst())
    return failure;
  if (auto failure = runSession())
    return failure;
  if (auto failure = judgeBy(Dominance::byOperations))
    return failure;
  if (!report.ok() && llvm::any_of(answers, [](const Answer &answer) { return answer.contracts; }))
    if (auto failure = judgeBy(Dominance::byErrors))
      return failure;
  print(report);
  if (!arguments.ops && report.ok())
    return {};
  if (auto failure = compareByOps()) {
    if (report.ok())
      return failure;
    std::fprintf(stderr, "tutti-verify: note: which op it is cannot be found out: %s\n", failure.message.c_str());
    report.ops.reset();
    return {};
  }
  printOps(report, arguments.ops);
  return {};
}

/// With the members, the inputs that there are and the sizes that are to be compared.
Failure Verification::Program::openSession() {
  auto created = Session::create(artifact, options);
  if (!created)
    return created.error();
  session = std::move(*created);
  const char *precision = artifact.programs()[options.program].precision;
  std::optional<Precision> known = symbolizePrecision(precision);
  if (!known)
    return failureOf(
        fail(ExitCode::unsupported, "the artifact is of the precision " + quote(precision) + ", which is unknown"));
  report.precision = *known;
  if (auto error = session.setActive(report.active))
    return error;
  if (auto failure = bindInputs(inputFiles, artifact, inputs, session))
    return failure;
  if (llvm::any_of(inputs, [](const Tensor &input) { return input.dtype == TUTTI_NONE; }))
    report.seed = arguments.seed;
  return chooseSizes(arguments, artifact, options.program, inputs, report.sizes);
}

/// Binds the symbols of the first model's inputs as the artifact has them bound.
Failure Verification::Program::bindDims() {
  auto symbols = symbolsOf(arguments.models[0]);
  if (!symbols)
    return failureOf(symbols.takeError());
  for (const tutti_port_t &port : artifact.inputs(options.program)) {
    const std::vector<std::string> &names = (*symbols)[port.name];
    int32_t own = port.per_member; // past the member axis
    for (int32_t axis = 0; axis + own < port.rank && size_t(axis) < names.size(); ++axis)
      if (const tutti_dim_t &dim = port.dims[axis + own]; !names[axis].empty())
        import.dims[names[axis]] = {dim.lo, dim.hi};
  }
  return {};
}

Failure Verification::Program::readFirst() {
  context.loadAllAvailableDialects();
  if (auto failure = bindDims())
    return failure;
  auto imported = importForReference(context, files[0], import, nullptr, 0);
  if (!imported)
    return failureOf(imported.takeError());
  first = std::move(*imported);
  ports = portsOf(*first);
  ranges = getSizeRanges(*first->module);
  for (bool isInput : {true, false})
    for (const tutti_port_t &port : isInput ? artifact.inputs() : artifact.outputs())
      if (!llvm::is_contained(isInput ? ports.inputs : ports.outputs, port.name))
        return {ExitCode::malformed, "the artifact's " + std::string(isInput ? "input " : "output ") +
                                         quote(port.name) + " is none of " + quote(arguments.models[0])};
  return {};
}

Failure Verification::Program::runSession() {
  for (const auto &[name, value] : report.sizes)
    if (auto error = session.setDimension(name, value))
      return error;
  if (auto failure = seedInputs(artifact, ports, report.seed.value_or(0), session, inputs))
    return failure;
  if (auto error = session.run())
    return error;
  return {};
}

Failure Verification::Program::judgeBy(Dominance dominance) {
  answers.clear();
  report.rows.clear();
  Failure failure = evaluateMembers(dominance);
  return failure ? failure : judgeOutputs();
}

Failure Verification::Program::evaluateMembers(Dominance dominance) {
  std::vector<std::pair<HostTensor, bool>> stacked; // in the model's order; of each member its own, or the same for all
  for (size_t i = 0; i < ports.inputs.size(); ++i)
    for (size_t j = 0; j < inputs.size(); ++j)
      if (const tutti_port_t &port = artifact.inputs()[j]; ports.inputs[i] == port.name)
        stacked.emplace_back(tensorOf(inputs[j], i), port.per_member);
  std::vector<std::vector<Answer>> byOutput(ports.outputs.size());
  Progress progress(report.active.size());
  for (size_t position = 0; position < report.active.size(); ++position) {
    uint32_t m = report.active[position];
    std::optional<MemberModel> own;
    if (m != 0) {
      auto imported = importForReference(context, files[m], import, &ports, m);
      if (!imported)
        return failureOf(imported.takeError());
      own = std::move(*imported);
    }
    std::vector<Answer> operands;
    for (const auto &[whole, perMember] : stacked)
      operands.push_back(given(perMember ? unstack(whole, position) : whole));
    auto answered = answer(own ? *own : *first, operands, report.precision, dominance);
    if (!answered)
      return failureOf(answered.takeError());
    for (auto [all, each] : llvm::zip_equal(byOutput, *answered))
      all.push_back(std::move(each));
    progress.did(position + 1);
  }
  for (std::vector<Answer> &members : byOutput)
    answers.push_back(stack(std::move(members)));
  return {};
}

Failure Verification::Program::judgeOutputs() {
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
std::vector<const Architecture *> Verification::Program::architectures() const {
  bool emulated = options.device == TUTTI_DEVICE_EMULATED;
  std::vector<const Architecture *> found;
  const fb::Root &root = *fb::GetRoot(artifact.info().metadata);
  for (const fb::Kernel *kernel : *root.kernels())
    for (uint32_t i = 0; kernel->images() && i < kernel->images()->size(); ++i) {
      const auto *target = kernel->images()->Get(i)->target();
      const Architecture *architecture = target ? findArchitecture(target->str()) : nullptr;
      if (architecture && (architecture->code == Architecture::Code::emulated) == emulated &&
          !llvm::is_contained(found, architecture))
        found.push_back(architecture);
    }
  return found;
}

/// The number of an active member's group, of members that align.
uint32_t Verification::Program::groupAt(size_t position) const {
  const auto *groups = fb::GetRoot(artifact.info().metadata)->groups();
  auto has = [&](uint32_t group) {
    const auto *members = groups->Get(group)->members();
    return members && llvm::is_contained(*members, report.active[position]);
  };
  uint32_t group = 0;
  while (groups && group + 1 < groups->size() && !has(group))
    ++group;
  return group;
}

/// The first four of the active members or, when some are out of bounds, the worst: of a group, as others have other
/// ops.
std::vector<size_t> Verification::Program::positionsToCompare() const {
  std::vector<size_t> positions;
  for (const Row &row : report.rows)
    if (!row.ok() && !row.members.empty() && positions.empty())
      positions.push_back(row.worst());
  for (size_t position = 0; position < report.active.size() && positions.size() < 4; ++position)
    if (positions.empty() ||
        (!llvm::is_contained(positions, position) && groupAt(position) == groupAt(positions.front())))
      positions.push_back(position);
  return positions;
}

Failure Verification::Program::compareByOps() {
  std::vector<size_t> positions = positionsToCompare();
  OpRequest request;
  for (size_t position : positions)
    request.members.push_back(files[report.active[position]]);
  request.import = import;
  request.ports = ports;
  request.ranges.assign(ranges.begin(), ranges.end());
  request.shareByContent = artifact.info().share != std::string_view("none");
  request.precision = report.precision;
  request.session = options;
  request.session.program = 0;
  if (artifact.programs()[options.program].device == TUTTI_DEVICE_CUDA)
    request.architectures = architectures();
  else if (options.target)
    request.levels = {options.target};
  else
    request.levels = CompileRequest().levels;
  request.sizes = report.sizes;
  request.stopAtFirst = !arguments.ops;
  for (auto [tensor, port] : llvm::zip_equal(inputs, artifact.inputs())) {
    HostTensor whole = tensorOf(tensor, llvm::find(ports.inputs, port.name) - ports.inputs.begin());
    for (size_t position : port.per_member ? positions : std::vector<size_t>{0})
      request.inputs[port.name].push_back(port.per_member ? unstack(whole, position) : whole);
  }
  auto rows = compareOps(context, request);
  if (!rows)
    return failureOf(rows.takeError());
  report.ops = std::move(*rows);
  return {};
}

/// The models' names and files, by member.
Failure Verification::readModels() {
  std::vector<std::string> names;
  if (std::string message = readModelNames(arguments.models, names); !message.empty())
    return {ExitCode::usage, message};
  arguments.models = names;
  names.clear();
  if (std::string message = readModelNames(arguments.weights, names, "weights"); !message.empty())
    return {ExitCode::usage, message};
  if (!names.empty() && arguments.models.size() != 1)
    return {ExitCode::usage, "--weights gives the members of one model, but " +
                                 std::to_string(arguments.models.size()) + " models are given"};
  files = membersOf(arguments.models, names);
  if (files.size() == 1 && isMlir(arguments.models[0])) // one file may hold all members
    for (uint32_t m = 0; m < artifact.info().num_members; ++m) {
      files.resize(m + 1, files[0]);
      files[m].part = names.empty() ? m : -1;
    }
  import.output = arguments.json;
  if (llvm::Error error = addBinds(arguments.binds, import))
    return failureOf(std::move(error));
  return {};
}

/// One file for each member, the one that it was compiled from.
Failure Verification::checkModels() const {
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

/// The device, the members and the inputs.
Failure Verification::readRequest() {
  if (auto failure = parseDevice(arguments.device, options))
    return failure;
  asked.threads = options.threads;
  if (arguments.active)
    if (auto failure = parseActive(*arguments.active, asked.active))
      return failure;
  for (uint32_t m = 0; !arguments.active && m < artifact.info().num_members; ++m)
    asked.active.push_back(m);
  return readInputs(inputFiles, artifact, inputs);
}

/// What is read is not written over: these files and all others.
Failure Verification::checkJson(std::vector<ReadFile> read) const {
  read.push_back({arguments.artifact, "the artifact"});
  for (const MemberFiles &each : files) {
    read.push_back({each.model, "one of the models"});
    read.push_back({each.weights, "a file of --weights"});
  }
  for (const std::string &text : arguments.binds)
    if (auto pair = splitAtFile(text))
      read.push_back({pair->second, "a file of --bind"});
  for (const std::string &file : inputFiles)
    read.push_back({file, "a file of --input"});
  return tryOutput("--json", arguments.json, read);
}

Failure Verification::writeReports() const {
  OutputFiles out;
  if (auto failure = out.write(arguments.json, {json(reports)}))
    return failure;
  return out.commit();
}

Failure Verification::run() {
  if (auto failure = openArtifact(arguments.artifact, artifact))
    return failure;
  std::vector<ReadFile> lists;
  for (const auto *given : {&arguments.models, &arguments.weights})
    for (const std::string &text : *given)
      if (text.starts_with("@"))
        lists.push_back({text.substr(1), "a list of names"});
  if (auto failure = readModels())
    return failure;
  if (auto failure = matchInputs(arguments.inputs, artifact.inputs(), inputFiles))
    return failure;
  if (auto failure = checkJson(std::move(lists)))
    return failure;
  if (auto failure = checkModels())
    return failure;
  if (auto error = artifact.verifyWeights())
    return {error.status(), shown(arguments.artifact) + ": " + error.message()};
  if (auto failure = readRequest())
    return failure;
  std::vector<tutti_session_options_t> programs;
  if (auto failure = chooseBindings(arguments, artifact, options, inputs, programs))
    return failure;
  for (const tutti_session_options_t &program : programs) {
    if (!reports.empty())
      std::printf("\n");
    reports.push_back(asked);
    if (auto failure = Program(*this, program, reports.back()).verify())
      return failure;
  }
  if (!arguments.json.empty())
    if (auto failure = writeReports())
      return failure;
  if (!llvm::all_of(reports, [](const Report &each) { return each.ok(); }))
    return {ExitCode::differs, "the artifact's results are not within their bounds of the float64 reference"};
  if (!llvm::all_of(reports, [](const Report &each) { return each.opsOk(); }))
    return {ExitCode::differs, "an op by itself is not within its bound of the float64 reference"};
  return {};
}

} // namespace tutti
