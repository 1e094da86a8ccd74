// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-verify: an artifact's answers against a float64 evaluation of the model files.
#include "Report.h"

#include "compiler/Compiler.h"
#include "compiler/import/MappedFile.h"
#include "runtime/schema/Digest.h"
#include "tools/common/ModelNames.h"
#include "tools/common/Npy.h"

#include <chrono>
#include <cmath>
#include <random>
#include <unistd.h>

using namespace mlir;
using namespace tutti;
using namespace tutti::tool;

namespace {

struct Arguments {
  std::string artifact, json, target;
  std::vector<std::string> models, inputs, dims;
  std::optional<std::string> active;
  uint64_t seed = 0;
  uint32_t threads = 0;
};

Failure failureOf(llvm::Error error) {
  Failure failure;
  llvm::handleAllErrors(
      std::move(error), [&](const CompileError &e) { failure = {int(e.code), e.message}; },
      [&](const llvm::ErrorInfoBase &e) { failure = {kInternal, e.message()}; });
  return failure;
}

std::string hex(uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

/// One file for each member, the one that it was compiled from.
Failure checkModels(const Artifact &artifact, const std::vector<std::string> &files) {
  auto members = artifact.members();
  if (files.size() != members.size())
    return {kUsage, "the artifact has " + std::to_string(members.size()) + " members, " + std::to_string(files.size()) +
                        " model files are given; give those that it was compiled from, in their order"};
  for (size_t i = 0; i < files.size(); ++i) {
    auto file = MappedFile::open(files[i]);
    if (!file)
      return failureOf(file.takeError());
    uint64_t digest = rt::xxh64((*file)->data(), (*file)->size());
    if (digest == members[i].digest)
      continue;
    std::string hint = "give the file that it was compiled from, or compile the artifact again";
    for (size_t m = 0; m < members.size(); ++m)
      if (members[m].digest == digest)
        hint = "it is member " + std::to_string(m) + "'s: give the files in the order of the members";
    return {kUsage, "member " + std::to_string(i) + " was compiled from '" + members[i].source + "' with digest " +
                        hex(members[i].digest) + ", but '" + files[i] + "' has " + hex(digest) + "; " + hint};
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

/// The call's sizes by name: those that --dim gives, of the others those that the files have, then eight or the most
/// there may be.
Failure chooseSizes(const Arguments &a, const Artifact &artifact, const std::vector<Tensor> &inputs,
                    std::map<std::string, int64_t> &sizes) {
  const tutti_program_t &program = artifact.programs()[0];
  std::span dimensions(program.dimensions, program.num_dimensions);
  for (const std::string &text : a.dims) {
    auto pair = splitAtLast(text);
    auto value = pair ? parseList(pair->second) : std::nullopt;
    if (!value || value->size() != 1)
      return {kUsage, "--dim is '" + text + "', expected NAME=V"};
    std::string known;
    const tutti_dimension_t *found = nullptr;
    for (const tutti_dimension_t &dimension : dimensions) {
      known += std::string(known.empty() ? "" : ", ") + "'" + dimension.name + "'";
      found = dimension.name == pair->first ? &dimension : found;
    }
    if (!found)
      return {kUsage,
              "there is no dimension '" + pair->first + "'; the artifact has " + (known.empty() ? "none" : known)};
    if (value->front() < found->lo || value->front() > found->hi)
      return {kUsage, "--dim " + text + ": expected a value from " + std::to_string(found->lo) + " to " +
                          std::to_string(found->hi)};
    if (!sizes.emplace(pair->first, value->front()).second)
      return {kUsage, "--dim " + pair->first + " is given twice"};
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t d = 0; d < inputs[i].dims.size(); ++d) {
      const tutti_port_t &port = artifact.inputs()[i];
      for (const tutti_dimension_t &dimension : dimensions) {
        if (std::string_view(port.dims[d].symbol) != dimension.name)
          continue;
        auto [place, fresh] = sizes.emplace(dimension.name, inputs[i].dims[d]);
        if (!fresh && place->second != inputs[i].dims[d])
          return {kUsage, std::string("dimension '") + dimension.name + "' is " + std::to_string(place->second) +
                              ", but input '" + port.name + "' has " + std::to_string(inputs[i].dims[d])};
      }
    }
  for (const tutti_dimension_t &dimension : dimensions)
    sizes.emplace(dimension.name, std::min<int64_t>(dimension.hi, std::max<int64_t>(dimension.lo, 32)));
  return {};
}

/// Normal numbers, small integers, fair coins; the same for a seed wherever it runs.
HostTensor seeded(std::mt19937_64 &generator, Type element, ArrayRef<int64_t> dims) {
  HostTensor tensor = HostTensor::zeros(element, dims);
  auto uniform = [&] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
  for (double &value : tensor.floats)
    value = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform());
  for (int64_t &value : tensor.ints)
    value = int64_t(generator() >> 60) & (element.isInteger(1) ? 1 : 7);
  return tensor;
}

/// Makes the inputs that no file gave.
Failure seedInputs(const Artifact &artifact, const Ports &ports, const Report &report, std::vector<Tensor> &inputs) {
  std::mt19937_64 generator(report.seed.value_or(0));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const tutti_port_t &port = artifact.inputs()[i];
    if (inputs[i].dtype != TUTTI_NONE)
      continue;
    for (int32_t d = 0; d < port.rank; ++d) {
      auto size = d < port.per_member    ? Size(int64_t(report.active.size()))
                  : *port.dims[d].symbol ? Size::parse(port.dims[d].symbol)
                                         : Size(port.dims[d].lo);
      if (!size)
        return {kInternal, std::string("input '") + port.name + "': '" + port.dims[d].symbol + "' is no size"};
      int64_t length = size->getFactor();
      for (const std::string &symbol : size->getSymbols())
        length *= report.sizes.at(symbol);
      inputs[i].dims.push_back(length);
    }
    auto at = llvm::find(ports.inputs, port.name);
    HostTensor tensor = seeded(generator, ports.types[at - ports.inputs.begin()].getElementType(), inputs[i].dims);
    inputs[i].dtype = port.dtype;
    inputs[i].data.resize(size_t(tensor.count()) * ((tutti_dtype_bits(port.dtype) + 7) / 8));
    tensor.toBytes(inputs[i].data.data());
  }
  return {};
}

Failure bindInput(Session &session, const char *name, const std::string &what, Tensor &tensor) {
  tutti_tensor_t bound = {name,    tensor.dtype,      int32_t(tensor.dims.size()), tensor.dims.data(),
                          nullptr, tensor.data.data()};
  if (tutti_status_t status = tutti_session_bind_input(session.get(), &bound))
    return {status >> 8, what + ": " + tutti_session_message(session.get())};
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
Failure evaluateMembers(MLIRContext &context, const Arguments &a, const ImportOptions &options,
                        const Artifact &artifact, MemberModel first, const Report &report,
                        const std::vector<Tensor> &inputs, std::vector<Answer> &outputs) {
  Ports ports = portsOf(mainOf(*first.module));
  std::vector<std::vector<Answer>> byOutput(ports.outputs.size());
  Progress progress(report.active.size());
  for (size_t position = 0; position < report.active.size(); ++position) {
    uint32_t m = report.active[position];
    std::optional<MemberModel> own;
    if (m != 0) {
      auto imported = importMember(context, a.models[m], options, &ports, m);
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
    auto answers = answer(own ? *own : first, operands);
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
      return {kInternal, std::string("output '") + port.name + "' does not have the reference's shape"};
    HostTensor got = HostTensor::fromBytes(expected.exact.element, dims, output->tensor.data);
    report.rows.push_back(judge(got, expected, port.name, port.head, tutti_dtype_name(port.dtype), report.active));
  }
  return {};
}

Failure verify(Arguments &a) {
  std::vector<std::string> names;
  if (std::string message = readModelNames(a.models, names); !message.empty())
    return {kUsage, message};
  a.models = names;
  Artifact artifact;
  if (auto failure = openArtifact(a.artifact, artifact))
    return failure;
  if (auto failure = checkModels(artifact, a.models))
    return failure;
  if (auto error = artifact.verifyWeights())
    return {error.exitCode(), a.artifact + ": " + error.message()};

  Report report;
  report.threads = a.threads ? a.threads : defaultThreads();
  if (a.active)
    if (auto failure = parseActive(*a.active, report.active))
      return failure;
  for (uint32_t m = 0; !a.active && m < artifact.info().num_members; ++m)
    report.active.push_back(m);
  Session session;
  if (auto failure = createSession(artifact, report.threads, 0, a.target, session))
    return failure;
  if (auto error = session.setActive(report.active))
    return error;
  std::vector<std::string> files;
  if (auto failure = matchInputs(a.inputs, artifact.inputs(), files))
    return failure;
  std::vector<Tensor> inputs(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const tutti_port_t &port = artifact.inputs()[i];
    if (files[i].empty()) {
      report.seed = a.seed;
      continue;
    }
    if (auto failure = readNpy(files[i], port.dtype, inputs[i]))
      return failure;
    if (auto failure = bindInput(session, port.name, files[i], inputs[i]))
      return failure;
  }
  if (auto failure = chooseSizes(a, artifact, inputs, report.sizes))
    return failure;

  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ImportOptions options;
  if (auto failure = bindDims(a.models[0], artifact.inputs(), options))
    return failure;
  auto first = importMember(context, a.models[0], options, nullptr, 0);
  if (!first)
    return failureOf(first.takeError());
  Ports ports = portsOf(mainOf(*first->module));
  for (std::span side : {artifact.inputs(), artifact.outputs()})
    for (const tutti_port_t &port : side)
      if (!llvm::is_contained(side.data() == artifact.inputs().data() ? ports.inputs : ports.outputs, port.name))
        return {kMalformed,
                std::string("the artifact's '") + port.name + "' is neither input nor output of '" + a.models[0] + "'"};
  if (auto failure = seedInputs(artifact, ports, report, inputs))
    return failure;
  for (size_t i = 0; i < files.size(); ++i)
    if (files[i].empty())
      if (auto failure = bindInput(session, artifact.inputs()[i].name, "seeded inputs", inputs[i]))
        return failure;
  for (const auto &[name, value] : report.sizes)
    if (auto error = session.setDimension(name, value))
      return error;
  if (auto error = session.run())
    return error;

  std::vector<Answer> answers;
  if (auto failure = evaluateMembers(context, a, options, artifact, std::move(*first), report, inputs, answers))
    return failure;
  if (auto failure = judgeOutputs(context, artifact, session, ports, answers, report))
    return failure;
  print(report);
  if (!a.json.empty()) {
    OutputFiles out;
    if (auto failure = out.write(a.json, {json(report)}))
      return failure;
    if (auto failure = out.commit())
      return failure;
  }
  if (report.ok())
    return {};
  return {kDiffers, "the artifact's results are not within their bounds of the float64 reference"};
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app(
      "Compares an artifact's results with a float64 evaluation of the model files that it was compiled from.\n"
      "Errors are 2-norms relative to the reference's. Ours may be at most 1.25 times that of plain float32 where\n"
      "contractions dominate, twice elsewhere; integers and bools have to be equal.",
      "tutti-verify");
  app.footer("Exit 1: out of bounds.\n\nExample:\n  tutti-verify digits.tutti digits_*.onnx --input image=images.npy "
             "--active 0,3,7");
  Arguments a;
  app.add_option("FILE", a.artifact, "the artifact, as tutti-compile made it")->required();
  app.add_option("MODEL", a.models,
                 "the ONNX files that it was compiled from, in their order; @FILE reads names, one a line")
      ->required()
      ->expected(1, -1);
  addRepeated(app, "--input", a.inputs, "NAME=FILE.npy; inputs without a file are random numbers");
  addRepeated(app, "--dim", a.dims,
              "NAME=V: the size of a dimension (default: the files', else 32 where the range has it)");
  app.add_option("--active", a.active, "only these members, in this order, such as 0,3,7 (default: all)");
  app.add_option("--seed", a.seed, "of the random inputs (default: 0)");
  app.add_option("--target", a.target, "run the code of this CPU level: cpu-v3 or cpu-avx512 (default: the best)");
  app.add_option("--threads", a.threads, "threads to use (default: the CPUs of this process)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--json", a.json, "also writes the table to FILE as JSON")->type_name("FILE");
  return toolMain(app, argc, argv, [&] { return verify(a); });
}
