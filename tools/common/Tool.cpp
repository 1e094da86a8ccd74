// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments and failures of the tools.
#include "Tool.h"
#include "End.h"

#include "device/cpu/Threads.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace tutti::tool {

int exitOf(const CLI::App &app, const CLI::ParseError &error) {
  std::ostringstream answer, complaint; // with arguments in it, as they are
  if (app.exit(error, answer, complaint) == 0) {
    std::fputs(answer.str().c_str(), stdout);
    return endOf(app.get_name().c_str(), int(ExitCode::ok));
  }
  std::fprintf(stderr, "%s: error: %s", app.get_name().c_str(), rt::shownLines(complaint.str()).c_str());
  return int(ExitCode::usage);
}

static std::string versionText() {
  return "tutti " + std::to_string(TUTTI_VERSION_MAJOR) + "." + std::to_string(TUTTI_VERSION_MINOR) + "." +
         std::to_string(TUTTI_VERSION_PATCH) + ", artifact format " + std::to_string(tutti_format_version());
}

std::string hex(uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

void prepare(CLI::App &app) {
  app.set_version_flag("--version", versionText);
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like a full disk
  // Of a variable that a script has not set, rather than nothing at all.
  for (CLI::Option *option : app.get_options([](CLI::Option *option) { return option->get_items_expected_max() > 0; }))
    option->check(
        [](const std::string &text) { return std::string(text.empty() ? "'' given: expected a value" : ""); });
}

int toolMain(CLI::App &app, int argc, char **argv, const std::function<Failure()> &body) {
  prepare(app);
  Failure failure;
  try {
    app.parse(argc, argv);
    failure = body();
  } catch (const CLI::ParseError &error) {
    return exitOf(app, error);
  } catch (const std::bad_alloc &) {
    failure = {ExitCode::resource, "not enough memory"};
  } catch (const std::system_error &error) { // threads, files
    failure = {ExitCode::resource, std::string("the system has no more: ") + error.what()};
  } catch (const std::exception &error) {
    failure = {ExitCode::internal, error.what()};
  }
  if (failure)
    std::fprintf(stderr, "%s: error: %s\n", app.get_name().c_str(), rt::shownLines(failure.message).c_str());
  return endOf(app.get_name().c_str(), int(failure.code));
}

CLI::Option *addRepeated(CLI::App &app, const std::string &name, const char *kind, std::vector<std::string> &values,
                         const std::string &help) {
  return app.add_option(name, values, help)
      ->type_name(kind)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option *wholeNumber(CLI::Option *option, uint64_t least, uint64_t most) {
  std::string range = std::to_string(least) + " to " + std::to_string(most);
  // What is converted then has no zero in front, which would make it octal.
  return option->transform(CLI::Validator(
      [=](std::string &text) -> std::string {
        uint64_t value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
          return quote(text) + " given: expected a whole number from " + range;
        text = std::to_string(value);
        return {};
      },
      range));
}

std::optional<std::pair<std::string, std::string>> splitAtLast(const std::string &argument) {
  size_t at = argument.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == argument.size())
    return std::nullopt;
  return std::pair(argument.substr(0, at), argument.substr(at + 1));
}

std::optional<std::pair<std::string, std::string>> splitAtFile(const std::string &argument) {
  auto last = splitAtLast(argument);
  if (!last)
    return std::nullopt;
  auto isThere = [](const std::string &path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  };
  for (size_t at = last->first.size(); at != std::string::npos && at > 0; at = argument.rfind('=', at - 1))
    if (std::string path = argument.substr(at + 1); isThere(path))
      return std::pair(argument.substr(0, at), path);
  return last;
}

std::optional<std::vector<int64_t>> parseList(std::string_view text) {
  std::vector<int64_t> values;
  for (;;) {
    int64_t value;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
      return std::nullopt;
    values.push_back(value);
    text.remove_prefix(size_t(end - text.data()));
    if (text.empty())
      return values;
    if (text.front() != ',')
      return std::nullopt;
    text.remove_prefix(1);
  }
}

Failure parseActive(const std::string &text, std::vector<uint32_t> &members) {
  auto list = parseList(text);
  if (!list)
    return {ExitCode::usage, "--active is " + quote(text) + ", expected member numbers such as 0,3,7"};
  for (int64_t value : *list) {
    if (value < 0 || value > UINT32_MAX)
      return {ExitCode::usage, "--active has member " + std::to_string(value) + ", expected numbers from 0"};
    members.push_back(uint32_t(value));
  }
  return {};
}

uint32_t defaultThreads() { return rt::defaultThreads(); }

void addDeviceArguments(CLI::App &app, DeviceArguments &arguments) {
  app.add_option("--device", arguments.device,
                 "cpu, cuda, cuda:N or emulated (default: cuda, then cpu, whichever has code that runs here)")
      ->type_name("DEVICE");
  app.add_option("--target", arguments.target,
                 "run CPU code of this level: cpu-v3 or cpu-avx512; or of the best: cpu (default on a CPU)")
      ->type_name("T");
  wholeNumber(app.add_option("--threads", arguments.threads, "CPU threads to use (default: the CPUs of this process)"),
              1, 1024)
      ->type_name("N");
}

Failure parseDevice(const DeviceArguments &arguments, tutti_session_options_t &options) {
  options = TUTTI_SESSION_OPTIONS_INIT;
  options.threads = arguments.threads ? arguments.threads : defaultThreads();
  std::string_view device = arguments.device, target = arguments.target;
  if (device.starts_with("cuda:")) {
    auto ordinal = parseList(device.substr(5));
    if (!ordinal || ordinal->size() != 1 || (*ordinal)[0] < 0 || (*ordinal)[0] > INT32_MAX)
      return {ExitCode::usage, "--device is " + quote(arguments.device) + ", expected a number after 'cuda:'"};
    options.ordinal = uint32_t((*ordinal)[0]);
    device = "cuda";
  }
  for (auto kind : {TUTTI_DEVICE_CPU, TUTTI_DEVICE_CUDA, TUTTI_DEVICE_EMULATED})
    if (device == tutti_device_name(kind))
      options.device = kind;
  if (!device.empty() && options.device == TUTTI_DEVICE_DEFAULT)
    return {ExitCode::usage, "--device is " + quote(arguments.device) + ", expected cpu, cuda, cuda:N or emulated"};
  if (target.empty())
    return {};
  if (options.device > TUTTI_DEVICE_CPU)
    return {ExitCode::usage,
            "--target " + quote(arguments.target) + " is a CPU level, and the device is " + arguments.device};
  options.device = TUTTI_DEVICE_CPU;
  options.target = arguments.target.c_str();
  return {};
}

} // namespace tutti::tool
