// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments, failures, threads and output files of the tools.
#include "Tool.h"
#include "End.h"

#include "Levels.h"
#include "NewFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

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

std::string versionText() {
  return "tutti " + std::to_string(TUTTI_VERSION_MAJOR) + "." + std::to_string(TUTTI_VERSION_MINOR) + "." +
         std::to_string(TUTTI_VERSION_PATCH) + ", artifact format " + std::to_string(tutti_format_version());
}

std::string hex(uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

int toolMain(CLI::App &app, int argc, char **argv, const std::function<Failure()> &body) {
  app.set_version_flag("--version", versionText);
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like a full disk
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

std::optional<std::pair<std::string, std::string>> splitAtLast(const std::string &argument) {
  size_t at = argument.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == argument.size())
    return std::nullopt;
  return std::pair(argument.substr(0, at), argument.substr(at + 1));
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

/// The quota of the cgroup, or of one above it, in whole CPUs; 0 for none.
static uint32_t cgroupQuota() {
  std::string line, path;
  std::ifstream self("/proc/self/cgroup");
  while (std::getline(self, line))
    if (line.rfind("0::", 0) == 0)
      path = line.substr(3);
  uint32_t least = 0;
  auto consider = [&](double quota, double period) {
    if (quota > 0 && period > 0) {
      auto cpus = uint32_t(std::max(1.0, std::ceil(quota / period)));
      least = least ? std::min(least, cpus) : cpus;
    }
  };
  for (;;) {
    std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
    double quota, period;
    if (file >> quota >> period) // "max" is no number
      consider(quota, period);
    size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos)
      break;
    path.resize(slash);
  }
  std::ifstream quotaFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), periodFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double quota, period;
  if (quotaFile >> quota && periodFile >> period)
    consider(quota, period);
  return least;
}

uint32_t defaultThreads() {
  uint32_t cpus = 1;
  // The kernel refuses a set that is smaller than its own, whose size nothing tells.
  for (std::vector<cpu_set_t> sets(1); sets.size() <= 64; sets.resize(2 * sets.size())) {
    size_t bytes = sets.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, sets.data()) == 0) {
      cpus = uint32_t(std::max(1, CPU_COUNT_S(bytes, sets.data())));
      break;
    }
    if (errno != EINVAL)
      break;
  }
  uint32_t quota = cgroupQuota();
  return std::min<uint32_t>(quota ? std::min(cpus, quota) : cpus, 1024);
}

void addDeviceArguments(CLI::App &app, DeviceArguments &arguments) {
  app.add_option("--device", arguments.device,
                 "cpu, cuda, cuda:N or emulated (default: cuda, then cpu, whichever has code that runs here)")
      ->type_name("DEVICE");
  app.add_option("--target", arguments.target,
                 "run the code of this CPU level: cpu-v3 or cpu-avx512 (default: the best)")
      ->type_name("T");
  app.add_option("--threads", arguments.threads, "CPU threads to use (default: the CPUs of this process)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
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
  constexpr std::pair<std::string_view, tutti_device_t> devices[] = {{"", TUTTI_DEVICE_DEFAULT},
                                                                     {"cpu", TUTTI_DEVICE_CPU},
                                                                     {"cuda", TUTTI_DEVICE_CUDA},
                                                                     {"emulated", TUTTI_DEVICE_EMULATED}};
  const auto *found =
      std::find_if(std::begin(devices), std::end(devices), [&](auto &pair) { return pair.first == device; });
  if (found == std::end(devices))
    return {ExitCode::usage, "--device is " + quote(arguments.device) + ", expected cpu, cuda, cuda:N or emulated"};
  options.device = found->second;
  if (target.empty())
    return {};
  if (options.device > TUTTI_DEVICE_CPU)
    return {ExitCode::usage,
            "--target " + quote(arguments.target) + " is a CPU level, and the device is " + arguments.device};
  options.device = TUTTI_DEVICE_CPU;
  options.target = target == "cpu" ? nullptr : arguments.target.c_str();
  for (const rt::CpuTarget &cpu : rt::kCpuTargets)
    if (target == cpu.flag)
      options.target = cpu.level;
  return {};
}

Failure openArtifact(const std::string &path, Artifact &artifact) {
  auto opened = Artifact::open(path);
  if (!opened) {
    Failure failure(opened.error());
    if (failure.message.find(path) == std::string::npos)
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
    auto pair = splitAtLast(argument);
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

/// What ends a process from outside, all of which can wait.
static sigset_t endings() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    sigaddset(&set, signal);
  return set;
}

OutputFiles::OutputFiles() {
  sigset_t set = endings();
  pthread_sigmask(SIG_BLOCK, &set, &before);
}

OutputFiles::~OutputFiles() {
  for (const Entry &entry : entries)
    unlink(entry.temporary.c_str());
  for (size_t i = folders.size(); i-- > 0;)
    rmdir(folders[i].c_str()); // fails, as it should, when there is something in it
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Failure checkOutput(const std::string &flag, const std::string &output, const std::vector<ReadFile> &read) {
  for (const ReadFile &file : read)
    if (std::error_code unknown; std::filesystem::equivalent(output, file.path, unknown)) // else there is no such file
      return {ExitCode::usage,
              flag + " " + quote(output) + " is " + file.what + ": it would be written over; name another file"};
  return {};
}

static Failure cannotWrite(const std::string &path) {
  return {ExitCode::resource, "cannot write " + quote(path) + ": " + std::strerror(errno)};
}

Failure tryOutput(const std::string &output) {
  struct stat info;
  bool isFile = stat(output.c_str(), &info) != 0 || S_ISREG(info.st_mode);
  if (output.empty() || !isFile || rt::descriptorNamed(output) >= 0)
    return {};
  rt::NewFile made = rt::createFile(output);
  if (made.descriptor < 0)
    return cannotWrite(output);
  close(made.descriptor);
  unlink(made.temporary.c_str());
  return {};
}

Failure OutputFiles::enter(const std::string &folder) {
  for (size_t at = 0; at != std::string::npos;) {
    at = folder.find('/', at + 1);
    std::string part = folder.substr(0, at);
    if (mkdir(part.c_str(), 0777) == 0)
      folders.push_back(part);
    else if (errno != EEXIST)
      return {ExitCode::resource, "cannot make the folder " + quote(part) + ": " + std::strerror(errno)};
  }
  struct stat info;
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return {ExitCode::resource, quote(folder) + " is not a folder"};
  return {};
}

Failure OutputFiles::write(const std::string &path, std::initializer_list<std::string_view> parts) {
  rt::NewFile made = rt::createFile(path);
  int file = made.descriptor;
  if (file < 0)
    return cannotWrite(path);
  if (!made.temporary.empty())
    entries.push_back({made.temporary, made.path});
  for (std::string_view part : parts)
    while (!part.empty()) {
      ssize_t n = ::write(file, part.data(), part.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0) {
        Failure failure = cannotWrite(path);
        close(file);
        return failure;
      }
      part.remove_prefix(size_t(n));
    }
  if (close(file) != 0)
    return cannotWrite(path);
  return {};
}

Failure OutputFiles::commit() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    return {ExitCode::resource, std::string("cannot write to stdout: ") + std::strerror(errno)};
  // Each file that is replaced keeps another name until all are in their places, to come back if one cannot be.
  auto formerOf = [](const Entry &entry) { return entry.temporary + "-former"; };
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry &entry = entries[i];
    std::string former = formerOf(entry);
    struct stat info;
    bool isThere = lstat(entry.path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    // A file system may have no second names, or not for this file: then it is gone for a moment.
    entry.replaces = isThere && (link(entry.path.c_str(), former.c_str()) == 0 ||
                                 (errno != EEXIST && rename(entry.path.c_str(), former.c_str()) == 0));
    if (entry.replaces == isThere && rename(entry.temporary.c_str(), entry.path.c_str()) == 0)
      continue;
    Failure failure = cannotWrite(entry.path);
    for (size_t done = 0; done <= i; ++done) {
      const Entry &each = entries[done];
      if (!each.replaces && done < i)
        unlink(each.path.c_str());
      // Of two names of one file both stay; a file that cannot come back keeps the other name.
      if (each.replaces && rename(formerOf(each).c_str(), each.path.c_str()) == 0)
        unlink(formerOf(each).c_str());
    }
    return failure;
  }
  for (const Entry &entry : entries)
    if (entry.replaces)
      unlink(formerOf(entry).c_str());
  entries.clear();
  folders.clear();
  return {};
}

} // namespace tutti::tool
