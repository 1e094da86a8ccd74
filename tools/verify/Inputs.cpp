// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs from files and from a seed.
#include "Inputs.h"

#include <cmath>
#include <random>

using namespace mlir;

namespace tutti {

using namespace tool;

Failure readInputs(const std::vector<std::string> &files, const Artifact &artifact, std::vector<Tensor> &inputs) {
  inputs.resize(files.size());
  for (size_t i = 0; i < files.size(); ++i)
    if (!files[i].empty())
      if (auto failure = readNpy(files[i], artifact.inputs()[i].dtype, inputs[i]))
        return failure;
  return {};
}

/// NAME=V of --dim.
static Failure parseDim(const std::string &text, std::pair<std::string, int64_t> &bound) {
  auto pair = splitAtLast(text);
  auto value = pair ? parseList(pair->second) : std::nullopt;
  if (!value || value->size() != 1)
    return {ExitCode::usage, "--dim is " + quote(text) + ", expected NAME=V"};
  bound = {pair->first, value->front()};
  return {};
}

Failure chooseBindings(const Arguments &a, const Artifact &artifact, const tutti_session_options_t &options,
                       const std::vector<Tensor> &inputs, std::vector<tutti_session_options_t> &chosen) {
  Binding binding(a.dims.size());
  for (auto [text, bound] : llvm::zip_equal(a.dims, binding))
    if (auto failure = parseDim(text, bound))
      return failure;
  std::vector<tutti_session_options_t> programs;
  if (auto failure = choosePrograms(artifact, binding, options, programs))
    return failure;
  std::vector<tutti_tensor_t> given;
  for (auto [tensor, port] : llvm::zip_equal(inputs, artifact.inputs()))
    if (tensor.dtype != TUTTI_NONE)
      given.push_back(tensor.boundTo(port.name));
  for (const tutti_session_options_t &program : programs) {
    tutti_session_options_t taken = program;
    if (auto error = artifact.chooseProgram(given, taken); !error && taken.program == program.program)
      chosen.push_back(taken);
  }
  if (!chosen.empty())
    return {};
  tutti_session_options_t any = options;
  if (auto error = artifact.chooseProgram(given, any))
    return error;
  return {ExitCode::usage, "the inputs' sizes and --dim leave no program; the inputs are for " +
                               dimensionsText(artifact.programs()[any.program])};
}

Failure bindInputs(const std::vector<std::string> &files, const Artifact &artifact, std::vector<Tensor> &inputs,
                   Session &session) {
  for (auto [tensor, port, file] : llvm::zip_equal(inputs, artifact.inputs(), files))
    if (tensor.dtype != TUTTI_NONE)
      if (auto failure = bindInput(session, tensor.boundTo(port.name), file))
        return failure;
  return {};
}

Failure chooseSizes(const Arguments &a, const Artifact &artifact, uint32_t index, const std::vector<Tensor> &inputs,
                    std::map<std::string, int64_t> &sizes) {
  const tutti_program_t &program = artifact.programs()[index];
  std::span dimensions(program.dimensions, program.num_dimensions);
  for (const std::string &text : a.dims) {
    std::pair<std::string, int64_t> bound;
    if (auto failure = parseDim(text, bound))
      return failure;
    std::string known;
    const tutti_dimension_t *found = nullptr;
    for (const tutti_dimension_t &dimension : dimensions) {
      known += std::string(known.empty() ? "" : ", ") + quote(dimension.name);
      found = dimension.name == bound.first ? &dimension : found;
    }
    if (!found)
      return {ExitCode::usage,
              "there is no dimension " + quote(bound.first) + "; the artifact has " + (known.empty() ? "none" : known)};
    if (bound.second < found->lo || bound.second > found->hi)
      return {ExitCode::usage, "--dim " + shown(text) + ": expected a value from " + std::to_string(found->lo) +
                                   " to " + std::to_string(found->hi)};
    if (!sizes.insert(bound).second)
      return {ExitCode::usage, "--dim " + shown(bound.first) + " is given twice"};
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t d = 0; d < inputs[i].dims.size(); ++d) {
      const tutti_port_t &port = artifact.inputs(index)[i];
      for (const tutti_dimension_t &dimension : dimensions) {
        if (std::string_view(port.dims[d].symbol) != dimension.name)
          continue;
        auto [place, fresh] = sizes.emplace(dimension.name, inputs[i].dims[d]);
        if (!fresh && place->second != inputs[i].dims[d])
          return {ExitCode::usage, "dimension " + quote(dimension.name) + " is " + std::to_string(place->second) +
                                       ", but input " + quote(port.name) + " has " + std::to_string(inputs[i].dims[d])};
      }
    }
  for (const tutti_dimension_t &dimension : dimensions)
    sizes.emplace(dimension.name, std::min<int64_t>(dimension.hi, std::max<int64_t>(dimension.lo, 32)));
  return {};
}

/// Normal numbers, fair coins, integers from 0 to 32767 (of 8 bits: to 127) with equally many of each magnitude, so
/// that tables of any length are read all over; the same for a seed wherever it runs, as far as log and cos are.
static HostTensor seeded(std::mt19937_64 &generator, Type element, ArrayRef<int64_t> dims) {
  HostTensor tensor = HostTensor::zeros(element, dims);
  auto uniform = [&] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
  for (double &value : tensor.floats) {
    double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();
    value = radius * std::cos(angle);
  }
  for (int64_t &value : tensor.ints)
    if (element.isInteger(1)) {
      value = int64_t(generator() >> 63);
    } else {
      uint64_t bits = generator() >> 49;
      value = int64_t(bits >> (generator() >> 32) % 15) & (element.isInteger(8) ? 127 : INT16_MAX);
    }
  return tensor;
}

Failure seedInputs(const Artifact &artifact, const Ports &ports, uint64_t seed, Session &session,
                   std::vector<Tensor> &inputs) {
  std::mt19937_64 generator(seed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const tutti_port_t &port = artifact.inputs()[i];
    if (inputs[i].dtype != TUTTI_NONE)
      continue;
    auto dims = session.inputDims(port.name);
    if (!dims)
      return dims.error();
    inputs[i].dims.assign(dims->begin(), dims->end());
    auto at = llvm::find(ports.inputs, port.name);
    HostTensor tensor = seeded(generator, ports.types[at - ports.inputs.begin()].getElementType(), inputs[i].dims);
    inputs[i].dtype = port.dtype;
    inputs[i].data.resize(size_t(tensor.count()) * ((tutti_dtype_bits(port.dtype) + 7) / 8));
    tensor.toBytes(inputs[i].data.data());
    if (auto failure = bindInput(session, inputs[i].boundTo(port.name), "seeded inputs"))
      return failure;
  }
  return {};
}

} // namespace tutti
