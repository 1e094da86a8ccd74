// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opening artifacts, choosing programs, and naming their inputs and dimensions.
#include "Programs.h"

#include <algorithm>

namespace tutti::tool {

Failure openArtifact(const std::string &path, Artifact &artifact) {
  auto opened = Artifact::open(path);
  if (!opened) {
    Failure failure(opened.error());
    if (failure.message.find(path) == std::string::npos) // a name with characters that the library's message has not
      failure.message = shown(path) + ": " + failure.message;
    return failure;
  }
  artifact = std::move(*opened);
  return {};
}

Failure createSession(const Artifact &artifact, tutti_session_options_t &options, Session &session,
                      std::span<const tutti_tensor_t> inputs) {
  if (auto error = artifact.chooseProgram(inputs, options))
    return error;
  auto created = Session::create(artifact, options);
  if (!created)
    return created.error();
  session = std::move(*created);
  return {};
}

Failure bindInput(Session &session, const tutti_tensor_t &tensor, const std::string &from) {
  if (tutti_status_t status = tutti_session_bind_input(session.get(), &tensor))
    return {status, (from.empty() ? "" : shown(from) + ": ") + tutti_session_message(session.get())};
  return {};
}

std::string dimensionsText(const tutti_program_t &program) {
  std::string text;
  for (const tutti_dimension_t &d : std::span(program.dimensions, program.num_dimensions))
    text += (text.empty() ? "" : ", ") + shown(d.name) + "=" + std::to_string(d.lo) +
            (d.lo == d.hi ? "" : ".." + std::to_string(d.hi));
  return text;
}

static bool hasDimensions(const tutti_program_t &program, const Binding &binding) {
  std::span dimensions(program.dimensions, program.num_dimensions);
  return std::all_of(binding.begin(), binding.end(), [&](const auto &bound) {
    return std::any_of(dimensions.begin(), dimensions.end(), [&](const tutti_dimension_t &d) {
      return bound.first == d.name && bound.second >= d.lo && bound.second <= d.hi;
    });
  });
}

Failure choosePrograms(const Artifact &artifact, const Binding &binding, const tutti_session_options_t &options,
                       std::vector<tutti_session_options_t> &chosen) {
  tutti_session_options_t first = options;
  if (auto error = artifact.chooseDevice(first))
    return error;
  auto programs = artifact.programs();
  std::vector<std::string> known;
  for (uint32_t p = options.program; p < programs.size(); ++p) {
    std::string dimensions = dimensionsText(programs[p]);
    if (programs[p].device != programs[first.program].device ||
        std::string_view(programs[p].entry) != programs[first.program].entry ||
        std::find(known.begin(), known.end(), dimensions) != known.end())
      continue;
    known.push_back(dimensions);
    if (!hasDimensions(programs[p], binding))
      continue;
    chosen.push_back(first);
    chosen.back().program = p;
    if (auto error = artifact.chooseDevice(chosen.back()))
      return error;
  }
  if (chosen.empty() && known.size() == 1)
    chosen.push_back(first);
  if (!chosen.empty())
    return {};
  std::string asked, all;
  for (const auto &[name, value] : binding)
    asked += (asked.empty() ? "" : ", ") + shown(name) + "=" + std::to_string(value);
  for (const std::string &dimensions : known)
    all += (all.empty() ? "" : "; ") + dimensions;
  return {ExitCode::usage,
          "no program has " + asked + "; the artifact has " + (all.empty() ? "no dimension that a call decides" : all)};
}

/// NAME and FILE of an argument; where both have a '=', the last one before which there is a name that is known.
static std::optional<std::pair<std::string, std::string>> splitInput(const std::string &argument,
                                                                     const std::vector<std::string_view> &names) {
  auto last = splitAtLast(argument);
  if (!last || !findByName(names, last->first).empty())
    return last;
  for (size_t at = last->first.rfind('='); at != std::string::npos && at > 0; at = argument.rfind('=', at - 1))
    if (std::string name = argument.substr(0, at); !findByName(names, name).empty())
      return std::pair(name, argument.substr(at + 1));
  return last;
}

Failure matchInputs(const std::vector<std::string> &arguments, std::span<const tutti_port_t> ports,
                    std::vector<std::string> &files) {
  files.assign(ports.size(), "");
  std::vector<std::string_view> names;
  std::string known;
  for (const tutti_port_t &port : ports) {
    names.push_back(port.name);
    known += std::string(known.empty() ? "" : ", ") + quote(port.name);
  }
  for (const std::string &argument : arguments) {
    auto pair = splitInput(argument, names);
    if (!pair)
      return {ExitCode::usage, "--input is " + quote(argument) + ", expected NAME=FILE.npy"};
    std::vector<size_t> found = findByName(names, pair->first);
    if (found.empty())
      return {ExitCode::usage,
              "there is no input " + quote(pair->first) + "; the artifact has " + (known.empty() ? "none" : known)};
    if (found.size() > 1)
      return {ExitCode::usage, quote(pair->first) + " could be input " + quote(names[found[0]]) + " or " +
                                   quote(names[found[1]]) + "; write its name as it is"};
    if (!files[found[0]].empty())
      return {ExitCode::usage, "input " + quote(names[found[0]]) + " was given twice"};
    files[found[0]] = pair->second;
  }
  return {};
}

std::string dimsText(const tutti_port_t &port) {
  std::string text = "[";
  for (int32_t d = 0; d < port.rank; ++d) {
    text += d ? ", " : "";
    text += *port.dims[d].symbol ? shown(port.dims[d].symbol) : std::to_string(port.dims[d].lo);
  }
  return text + "]";
}

} // namespace tutti::tool
