// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime's tools have in common: failures and exit codes, arguments of the form NAME=VALUE, names of files.
#ifndef TUTTI_TOOLS_COMMON_TOOL_H
#define TUTTI_TOOLS_COMMON_TOOL_H

#include "Exit.h"
#include "FileName.h"
#include "Text.h"
#include "tutti/tutti.hpp"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::tool {

using rt::ExitCode, rt::fileNameOf, rt::findByName, rt::quote, rt::shown;

/// Nothing, or why a tool gives up.
class [[nodiscard]] Failure {
public:
  Failure() = default;
  Failure(ExitCode code, std::string message) : code(code), message(std::move(message)) {}
  Failure(tutti_status_t status, std::string message) : Failure(ExitCode(status >> 8), std::move(message)) {}
  Failure(const Error &error) : Failure(error.status(), error.message()) {}
  explicit operator bool() const { return code != ExitCode::ok; }

  ExitCode code = ExitCode::ok;
  std::string message;
};

/// The exit code of arguments that do not parse, once it is said what is wrong with them; --help and --version are
/// right.
int exitOf(const CLI::App &app, const CLI::ParseError &error);

/// What --version prints.
std::string versionText();

/// Runs a tool: parses the arguments, then calls body(); reports failures and exceptions on stderr and returns the exit
/// code. Usage errors are 2.
int toolMain(CLI::App &app, int argc, char **argv, const std::function<Failure()> &body);

/// A flag that repeats and takes one value each time, so that it never swallows what follows.
CLI::Option *addRepeated(CLI::App &app, const std::string &name, const char *kind, std::vector<std::string> &values,
                         const std::string &help);

/// A digest as it is printed: 16 hexadecimal digits.
std::string hex(uint64_t digest);

/// "NAME=VALUE", split at the last '='; nothing when there is none or a side is empty.
std::optional<std::pair<std::string, std::string>> splitAtLast(const std::string &argument);

/// "0,3,7"; nothing when it is no list of numbers.
std::optional<std::vector<int64_t>> parseList(std::string_view text);
/// The same for --active: member indices; the runtime says which are wrong.
Failure parseActive(const std::string &text, std::vector<uint32_t> &members);

/// CPUs of the affinity mask, and no more than the cgroup's quota allows; at least 1.
uint32_t defaultThreads();

/// --device, --target and --threads.
struct DeviceArguments {
  std::string device, target;
  uint32_t threads = 0; ///< 0: the CPUs of this process
};
void addDeviceArguments(CLI::App &app, DeviceArguments &arguments);

/// What the arguments say, as far as it can be known without an artifact.
Failure parseDevice(const DeviceArguments &arguments, tutti_session_options_t &options);

Failure openArtifact(const std::string &path, Artifact &artifact);
/// A session on the first device that can run the artifact, and whichever program that is: options.program says. Of
/// programs for several sizes it is one that takes the inputs.
Failure createSession(const Artifact &artifact, tutti_session_options_t &options, Session &session,
                      std::span<const tutti_tensor_t> inputs = {});

/// Sizes by name.
using Binding = std::vector<std::pair<std::string, int64_t>>;
/// Of the programs for the device that the options name or leave open, the first one of each list of dimensions that
/// can have these values: options for it. Where there are several lists, values that none of them has are an error that
/// says what there is; a single one is chosen whatever the values, as its sizes are for whoever binds them to check.
Failure choosePrograms(const Artifact &artifact, const Binding &binding, const tutti_session_options_t &options,
                       std::vector<tutti_session_options_t> &chosen);
/// "h=12, batch=1..64": a program's dimensions.
std::string dimensionsText(const tutti_program_t &program);

/// Which file each input comes from, by arguments NAME=FILE.npy; NAME may be the input's name as fileNameOf spells it.
/// Empty for an input that none names.
Failure matchInputs(const std::vector<std::string> &arguments, std::span<const tutti_port_t> ports,
                    std::vector<std::string> &files);

/// "[batch, 784]".
std::string dimsText(const tutti_port_t &port);

/// A file that a tool reads, and what it is: "the artifact".
struct ReadFile {
  std::string path, what;
};
/// The failure (usage) of an output, which a flag names, that is one of these files: it would be written over.
Failure checkOutput(const std::string &flag, const std::string &output, const std::vector<ReadFile> &read);

/// Whether a file can be written there, if any is named: one is made and removed again. What is no file is not tried.
Failure tryOutput(const std::string &output);

/// Files that appear all together or not at all: each is written under a temporary name beside its own and renamed by
/// commit(), which puts back what it has replaced if one of them cannot be. What was not committed is removed, and so
/// is the folder if this made it, also by an interrupt, which waits meanwhile. What was printed before commit() has to
/// have gone out, too.
class OutputFiles {
public:
  OutputFiles();
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Makes the folder (and those above it) if need be.
  Failure enter(const std::string &folder);
  /// Writes `path`'s bytes, given in parts. A device or a pipe is written to at once.
  Failure write(const std::string &path, std::initializer_list<std::string_view> parts);
  Failure commit();

private:
  struct Entry {
    std::string temporary, path;
    bool replaces = false; ///< a file that is kept until commit() has ended
  };
  std::vector<Entry> entries;
  std::vector<std::string> folders; ///< that this made, outermost first
  sigset_t before;                  ///< signals that were blocked
};

} // namespace tutti::tool

#endif
