// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime's tools have in common: failures and exit codes, arguments of the form NAME=VALUE, names of files.
#ifndef TUTTI_TOOLS_COMMON_TOOL_H
#define TUTTI_TOOLS_COMMON_TOOL_H

#include "runtime/support/Exit.h"
#include "runtime/support/FileName.h"
#include "runtime/support/Text.h"
#include "tutti/tutti.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI { // few files need all of it
class App;
class Option;
class ParseError;
} // namespace CLI

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

/// What all tools have alike, before the arguments are parsed: --version, no value that is empty, and files that may
/// not grow, whose error is that of a full disk.
void prepare(CLI::App &app);

/// Runs a tool: parses the arguments, then calls body(); reports failures and exceptions on stderr and returns the exit
/// code. Usage errors are 2.
int toolMain(CLI::App &app, int argc, char **argv, const std::function<Failure()> &body);

/// A flag that repeats and takes one value each time, so that it never swallows what follows.
CLI::Option *addRepeated(CLI::App &app, const std::string &name, const char *kind, std::vector<std::string> &values,
                         const std::string &help);

/// A flag of a whole number, written in decimal.
CLI::Option *wholeNumber(CLI::Option *option, uint64_t least, uint64_t most);

/// A digest as it is printed: 16 hexadecimal digits.
std::string hex(uint64_t digest);

/// "NAME=VALUE", split at the last '='; nothing when there is none or a side is empty.
std::optional<std::pair<std::string, std::string>> splitAtLast(const std::string &argument);

/// The same of NAME=FILE, where the file may have a '=', too: at the last one with a file behind it that is there.
std::optional<std::pair<std::string, std::string>> splitAtFile(const std::string &argument);

/// "0,3,7"; nothing when it is no list of numbers.
std::optional<std::vector<int64_t>> parseList(std::string_view text);
/// The same for --active: member indices; the runtime says which are wrong.
Failure parseActive(const std::string &text, std::vector<uint32_t> &members);

/// As many as a session's 0 threads are.
uint32_t defaultThreads();

/// --device, --target and --threads.
struct DeviceArguments {
  std::string device, target;
  uint32_t threads = 0; ///< 0: the CPUs of this process
};
void addDeviceArguments(CLI::App &app, DeviceArguments &arguments);

/// What the arguments say, as far as it can be known without an artifact.
Failure parseDevice(const DeviceArguments &arguments, tutti_session_options_t &options);

} // namespace tutti::tool

#endif
