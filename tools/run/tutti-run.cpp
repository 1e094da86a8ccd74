// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs an artifact on .npy files.
#include "../common/Npy.h"
#include "../common/OutputFiles.h"
#include "../common/Programs.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <map>

using namespace tutti;
using namespace tutti::tool;

namespace {

struct Arguments {
  std::string artifact, outputDir;
  DeviceArguments device;
  std::optional<std::string> active;
  std::vector<std::string> inputs;
  std::optional<uint32_t> repeat;
  bool verify = false;
};

/// "'y'", "'y' (mean)"
std::string described(const tutti_port_t &port) {
  bool members = !*port.head || std::string_view(port.head) == "members";
  return quote(port.name) + (members ? "" : " (" + shown(port.head) + ")");
}

/// The file name of each output, all different.
Failure nameOutputs(std::span<const tutti_port_t> ports, std::vector<std::string> &names) {
  std::map<std::string, const tutti_port_t *> taken;
  for (const tutti_port_t &port : ports) {
    std::string name = rt::outputFile(port.name, port.head);
    if (auto [it, added] = taken.emplace(name, &port); !added)
      return {ExitCode::usage, "outputs " + described(*it->second) + " and " + described(port) +
                                   " would both be written to " + quote(name)};
    names.push_back(name);
  }
  return {};
}

/// The inputs' files, read, and as they are bound.
struct Inputs {
  std::vector<std::string> files;
  std::vector<Tensor> tensors;
  std::vector<tutti_tensor_t> bound;
};

/// Which file each input comes from; none may be missing.
Failure nameInputs(const Arguments &arguments, const Artifact &artifact, std::vector<std::string> &files) {
  if (auto failure = matchInputs(arguments.inputs, artifact.inputs(), files))
    return failure;
  for (size_t i = 0; i < files.size(); ++i)
    if (const tutti_port_t &port = artifact.inputs()[i]; files[i].empty())
      return {ExitCode::usage, "input " + quote(port.name) + " is missing: add --input " + shown(port.name) +
                                   "=FILE.npy, " + tutti_dtype_name(port.dtype) + " " + dimsText(port)};
  return {};
}

/// Of what is read, nothing is written over.
Failure checkOutputs(const Arguments &arguments, const std::vector<std::string> &names,
                     const std::vector<std::string> &files) {
  std::vector<ReadFile> read = {{arguments.artifact, "the artifact"}};
  for (const std::string &file : files)
    read.push_back({file, "a file of --input"});
  for (const std::string &name : names)
    if (auto failure = checkOutput("--output-dir: the output", arguments.outputDir + "/" + name, read))
      return failure;
  return {};
}

Failure readInputs(const Artifact &artifact, Inputs &inputs) {
  inputs.tensors.resize(inputs.files.size());
  for (size_t i = 0; i < inputs.files.size(); ++i) {
    const tutti_port_t &port = artifact.inputs()[i];
    Tensor &tensor = inputs.tensors[i];
    if (auto failure = readNpy(inputs.files[i], port.dtype, tensor))
      return failure;
    inputs.bound.push_back(tensor.boundTo(port.name));
  }
  return {};
}

Failure bindInputs(const Inputs &inputs, Session &session) {
  for (size_t i = 0; i < inputs.files.size(); ++i)
    if (auto failure = bindInput(session, inputs.bound[i], inputs.files[i]))
      return failure;
  return {};
}

/// Runs so often; how long each took.
Failure timeRuns(Session &session, uint32_t runs, std::vector<double> &microseconds) {
  for (uint32_t i = 0; i < runs; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (auto error = session.run())
      return error;
    microseconds.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  return {};
}

/// One file for each of the program's outputs, called `names`.
Failure writeOutputs(const std::string &folder, const std::vector<std::string> &names,
                     std::span<const tutti_port_t> ports, const Session &session, OutputFiles &out) {
  if (auto failure = out.enter(folder))
    return failure;
  for (size_t i = 0; i < names.size(); ++i) {
    const tutti_port_t &port = ports[i];
    auto output = session.output(port.name, port.head);
    if (!output)
      return output.error();
    std::string cells;
    if (auto failure =
            out.write(folder + "/" + names[i], {npyHeader(port.dtype, output->dims()),
                                                npyCells(port.dtype, output->dims(), output->tensor.data, cells)}))
      return failure;
  }
  return {};
}

void printTimes(const tutti_session_options_t &options, const Session &session, std::vector<double> microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  std::string where = session.device().name;
  if (options.device == TUTTI_DEVICE_CPU)
    where = std::to_string(options.threads) + (options.threads == 1 ? " thread" : " threads");
  std::printf("%zu %s on %s: median %.1f us, fastest %.1f us\n", microseconds.size(),
              microseconds.size() == 1 ? "run" : "runs", where.c_str(), microseconds[microseconds.size() / 2],
              microseconds[0]);
}

Failure run(const Arguments &arguments) {
  tutti_session_options_t options;
  if (auto failure = parseDevice(arguments.device, options))
    return failure;
  options.verify_weights = arguments.verify;
  std::vector<uint32_t> active;
  if (arguments.active)
    if (auto failure = parseActive(*arguments.active, active))
      return failure;
  Artifact artifact;
  if (auto failure = openArtifact(arguments.artifact, artifact))
    return failure;
  // All programs have the same inputs and outputs but for their dims, so what is wrong with their names shows before a
  // device is asked for.
  Inputs inputs;
  std::vector<std::string> names;
  if (auto failure = nameInputs(arguments, artifact, inputs.files))
    return failure;
  if (auto failure = nameOutputs(artifact.outputs(), names))
    return failure;
  if (auto failure = checkOutputs(arguments, names, inputs.files))
    return failure;
  if (auto failure = readInputs(artifact, inputs))
    return failure;
  Session session;
  if (auto failure = createSession(artifact, options, session, inputs.bound))
    return failure;
  if (!active.empty())
    if (auto error = session.setActive(active))
      return error;
  if (auto failure = bindInputs(inputs, session))
    return failure;
  std::vector<double> microseconds;
  if (auto failure = timeRuns(session, arguments.repeat.value_or(1), microseconds))
    return failure;
  OutputFiles out;
  if (auto failure = writeOutputs(arguments.outputDir, names, artifact.outputs(options.program), session, out))
    return failure;
  if (arguments.repeat)
    printTimes(options, session, std::move(microseconds));
  return out.commit();
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs an artifact: reads inputs from .npy files, writes one .npy file for each output.", "tutti-run");
  app.footer("Example:\n  tutti-run digits.tutti --input image=images.npy --output-dir out --active 0,3,7");
  Arguments a;
  app.add_option("FILE", a.artifact, "the artifact, as tutti-compile made it")->required();
  addRepeated(app, "--input", "NAME=FILE", a.inputs, "NAME=FILE.npy, once for each input");
  app.add_option("--output-dir", a.outputDir,
                 "folder for NAME.npy (members) and NAME.HEAD.npy (another head); made if it is not there")
      ->type_name("DIR")
      ->required();
  app.add_option("--active", a.active, "only these members, in this order, such as 0,3,7 (default: all)")
      ->type_name("I,...");
  addDeviceArguments(app, a.device);
  app.add_flag("--verify", a.verify, "before it runs, read all weights and compare their digests");
  wholeNumber(app.add_option("--repeat", a.repeat, "run so often, and print the time"), 1, 1000000000)->type_name("N");
  return toolMain(app, argc, argv, [&] { return run(a); });
}
