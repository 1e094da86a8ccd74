// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading NVRTC and calling it.
#include "Nvrtc.h"
#include "NvrtcSearch.h"
#include "compiler/support/Error.h"
#include "compiler/support/Parallel.h"
#include "runtime/support/Library.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <optional>

namespace tutti {

// The few declarations of nvrtc.h that are needed (NVRTC documentation, "User Interface"); its numbers are an ABI.
using nvrtcProgram = struct _nvrtcProgram *;
enum nvrtcResult { NVRTC_SUCCESS = 0, NVRTC_ERROR_OUT_OF_MEMORY = 1 };

struct Nvrtc::Library {
  std::string path;
  int version = 0;
  std::vector<int> capabilities; ///< that it compiles for

  nvrtcResult (*nvrtcVersion)(int *major, int *minor);
  nvrtcResult (*nvrtcGetNumSupportedArchs)(int *);
  nvrtcResult (*nvrtcGetSupportedArchs)(int *);
  const char *(*nvrtcGetErrorString)(nvrtcResult);
  nvrtcResult (*nvrtcCreateProgram)(nvrtcProgram *, const char *text, const char *name, int headers,
                                    const char *const *headerTexts, const char *const *headerNames);
  nvrtcResult (*nvrtcDestroyProgram)(nvrtcProgram *);
  nvrtcResult (*nvrtcCompileProgram)(nvrtcProgram, int options, const char *const *);
  nvrtcResult (*nvrtcGetProgramLogSize)(nvrtcProgram, size_t *);
  nvrtcResult (*nvrtcGetProgramLog)(nvrtcProgram, char *);
  nvrtcResult (*nvrtcGetCUBINSize)(nvrtcProgram, size_t *);
  nvrtcResult (*nvrtcGetCUBIN)(nvrtcProgram, char *);
  nvrtcResult (*nvrtcGetPTXSize)(nvrtcProgram, size_t *);
  nvrtcResult (*nvrtcGetPTX)(nvrtcProgram, char *);

  std::string describe() const { return "NVRTC " + cudaVersionText(version) + " (" + path + ")"; }
};

static const char howToInstall[] = "install the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or set TUTTI_NVRTC to "
                                   "a libnvrtc.so; --target cpu needs none";

template <class Function> static bool find(void *handle, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function;
}

llvm::Expected<Nvrtc> Nvrtc::open(const std::string &path) {
  llvm::Expected<Nvrtc> nvrtc = tryOpen(path);
  if (llvm::Error error = nvrtc.takeError())
    return fail(ExitCode::device, llvm::toString(std::move(error)) + "; " + howToInstall);
  return nvrtc;
}

llvm::Expected<Nvrtc> Nvrtc::tryOpen(const std::string &path) {
  if (rt::isCutShort(path.c_str()))
    return fail(ExitCode::device, "cannot load NVRTC: " + quote(path) + " is cut short");
  // The library stays loaded: it keeps process-wide state, and is opened again later.
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle)
    return fail(ExitCode::device, llvm::Twine("cannot load NVRTC: ") + dlerror());
  auto library = std::make_shared<Library>();
  Library &l = *library;
  const char *missing = nullptr;
#define TUTTI_FIND(name)                                                                                               \
  if (!missing && !find(handle, #name, l.name))                                                                        \
  missing = #name
  TUTTI_FIND(nvrtcVersion);
  TUTTI_FIND(nvrtcGetErrorString);
  TUTTI_FIND(nvrtcGetNumSupportedArchs);
  TUTTI_FIND(nvrtcGetSupportedArchs);
  TUTTI_FIND(nvrtcCreateProgram);
  TUTTI_FIND(nvrtcDestroyProgram);
  TUTTI_FIND(nvrtcCompileProgram);
  TUTTI_FIND(nvrtcGetProgramLogSize);
  TUTTI_FIND(nvrtcGetProgramLog);
  TUTTI_FIND(nvrtcGetCUBINSize);
  TUTTI_FIND(nvrtcGetCUBIN);
  TUTTI_FIND(nvrtcGetPTXSize);
  TUTTI_FIND(nvrtcGetPTX);
#undef TUTTI_FIND
  int major = 0, minor = 0;
  if (l.nvrtcVersion && l.nvrtcVersion(&major, &minor) == NVRTC_SUCCESS)
    l.version = 1000 * major + 10 * minor;
  Dl_info where;
  l.path = l.nvrtcVersion && dladdr(reinterpret_cast<void *>(l.nvrtcVersion), &where) ? where.dli_fname : path;
  if (!l.version)
    return fail(ExitCode::device, quote(l.path) + " is no NVRTC");
  if (l.version < oldest || missing)
    return fail(ExitCode::device, l.describe() + " is too old: " + cudaVersionText(oldest) + " or newer is needed");
  int count = 0;
  if (l.nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS && count > 0) {
    l.capabilities.resize(count);
    if (l.nvrtcGetSupportedArchs(l.capabilities.data()) != NVRTC_SUCCESS)
      l.capabilities.clear();
  }
  return Nvrtc(std::move(library));
}

llvm::Expected<Nvrtc> Nvrtc::load() {
  if (const char *named = std::getenv("TUTTI_NVRTC"); named && *named) {
    if (!llvm::sys::fs::is_directory(named))
      return open(named);
    std::vector<std::string> found = nvrtcInFolders({named});
    if (found.empty())
      return fail(ExitCode::device, llvm::Twine("no libnvrtc.so in ") + quote(named) +
                                        ", where TUTTI_NVRTC says that NVRTC is; " + howToInstall);
    return open(found.front());
  }
  // Libraries that do not load, or are too old; for the message.
  std::string refused;
  auto first = [&](const std::vector<std::string> &paths) -> std::optional<Nvrtc> {
    for (const std::string &path : paths) {
      llvm::Expected<Nvrtc> nvrtc = tryOpen(path);
      if (nvrtc)
        return *nvrtc;
      refused += "\n  " + llvm::toString(nvrtc.takeError());
    }
    return std::nullopt;
  };
  if (auto nvrtc = first(nvrtcCandidates()))
    return *nvrtc;
  // dlopen cannot search for "any version".
  for (int major = 19; major >= oldest / 1000; --major) {
    std::string name = "libnvrtc.so." + std::to_string(major);
    if (llvm::Expected<Nvrtc> nvrtc = tryOpen(name))
      return *nvrtc;
    else
      llvm::consumeError(nvrtc.takeError());
  }
  if (auto nvrtc = first(nvrtcInPython()))
    return *nvrtc;
  return fail(ExitCode::device, llvm::Twine("CUDA targets need NVRTC, and none was found: ") + howToInstall +
                                    (refused.empty() ? "" : "\nThese will not do:") + refused);
}

int Nvrtc::version() const { return library->version; }
const std::string &Nvrtc::path() const { return library->path; }
std::string Nvrtc::describe() const { return library->describe(); }

bool Nvrtc::supports(const Architecture &architecture) const {
  return architecture.code != Architecture::Code::emulated && library->version >= architecture.toolkit &&
         llvm::is_contained(library->capabilities, architecture.capability);
}

llvm::Error Nvrtc::check(const Architecture &architecture) const {
  if (supports(architecture))
    return llvm::Error::success();
  if (architecture.code == Architecture::Code::emulated)
    return fail(ExitCode::internal, "NVRTC was asked for the emulated device");
  if (library->version >= architecture.toolkit)
    return fail(ExitCode::device, describe() + " does not compile for " + architecture.name +
                                      " any more; install an older one, or leave " + architecture.name + " out");
  return fail(ExitCode::device, describe() + " is too old for " + architecture.name + ", which needs " +
                                    cudaVersionText(architecture.toolkit) + " or newer; " + howToInstall);
}

int Nvrtc::minDriver(const Architecture &architecture) const {
  if (architecture.code == Architecture::Code::ptx)
    return library->version;
  return std::max({oldest, library->version / 1000 * 1000, architecture.toolkit});
}

/// The text with line numbers, for messages.
static std::string numbered(llvm::StringRef text) {
  std::string result;
  unsigned number = 0;
  for (llvm::StringRef line : llvm::split(text, '\n'))
    result += llvm::utostr(++number) + ": " + line.str() + "\n";
  return result;
}

llvm::Expected<std::string> Nvrtc::compile(llvm::StringRef text, llvm::StringRef name, const Architecture &architecture,
                                           const NvrtcOptions &options) const {
  if (llvm::Error error = check(architecture))
    return error;
  const Library &l = *library;
  std::vector<const char *> headerNames, headerTexts, arguments;
  for (const DeviceHeader &header : options.headers) {
    headerNames.push_back(header.name.data());
    headerTexts.push_back(header.text.data());
  }
  std::vector<std::string> flags = {"--std=c++20",
                                    "--fmad=false",
                                    "--prec-div=true",
                                    "--prec-sqrt=true",
                                    "--ftz=false",
                                    "--device-as-default-execution-space",
                                    "--gpu-architecture=" + architecture.name.str()};
  llvm::append_range(flags, options.flags);
  for (const std::string &flag : flags)
    arguments.push_back(flag.c_str());

  std::string ownedText = text.str(), ownedName = name.str(), log;
  nvrtcProgram program = nullptr;
  nvrtcResult result = l.nvrtcCreateProgram(&program, ownedText.c_str(), ownedName.c_str(), int(headerNames.size()),
                                            headerTexts.data(), headerNames.data());
  llvm::scope_exit cleanUp([&] {
    if (program)
      l.nvrtcDestroyProgram(&program);
  });
  if (result == NVRTC_SUCCESS) {
    result = l.nvrtcCompileProgram(program, int(arguments.size()), arguments.data());
    size_t size = 0;
    if (l.nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
      log.resize(size);
      l.nvrtcGetProgramLog(program, log.data());
      log.resize(std::strlen(log.c_str())); // it ends with one 0 byte or more
    }
  }
  bool ptx = architecture.code == Architecture::Code::ptx;
  std::string code;
  if (result == NVRTC_SUCCESS) {
    size_t size = 0;
    result = (ptx ? l.nvrtcGetPTXSize : l.nvrtcGetCUBINSize)(program, &size);
    code.resize(size);
    if (result == NVRTC_SUCCESS)
      result = (ptx ? l.nvrtcGetPTX : l.nvrtcGetCUBIN)(program, code.data());
  }
  if (result == NVRTC_ERROR_OUT_OF_MEMORY)
    return fail(ExitCode::resource,
                describe() + " runs out of memory with the kernel text '" + name + "' for " + architecture.name);
  if (result != NVRTC_SUCCESS || code.empty()) {
    std::string message = describe() + " refuses the kernel text '" + name.str() + "' for " + architecture.name.str() +
                          ": " + l.nvrtcGetErrorString(result) + "\n" + log;
    if (std::getenv("TUTTI_SHOW_KERNELS"))
      message += "\n" + numbered(text);
    return fail(ExitCode::internal, message);
  }
  if (options.log)
    *options.log = std::move(log);
  return code;
}

llvm::Expected<std::vector<CompiledUnit>> Nvrtc::compile(llvm::ArrayRef<KernelUnit> units, unsigned jobs) const {
  std::vector<CompiledUnit> results(units.size());
  std::vector<std::optional<CompileError>> errors(units.size());
  std::vector<size_t> same(units.size());
  for (const KernelUnit &unit : units)
    if (llvm::Error error = check(*unit.architecture))
      return error;
  llvm::StringMap<size_t> known;
  std::vector<size_t> texts; // the first unit of each
  for (auto [i, unit] : llvm::enumerate(units)) {
    auto [at, isNew] = known.try_emplace(unit.architecture->name.str() + "\n" + unit.text, i);
    same[i] = at->second;
    if (isNew)
      texts.push_back(i);
  }
  inParallel(texts.size(), jobs, [&](size_t text) {
    size_t i = texts[text];
    std::string log;
    llvm::Expected<std::string> code = compile(units[i].text, units[i].name, *units[i].architecture, {.log = &log});
    if (code)
      results[i] = {std::move(*code), llvm::StringRef(log).contains("wgmma.mma_async instructions are serialized")};
    else
      errors[i].emplace(compileErrorOf(code.takeError()));
  });
  for (const std::optional<CompileError> &error : errors)
    if (error)
      return llvm::make_error<CompileError>(*error);
  for (size_t i = 0; i < units.size(); ++i)
    if (same[i] != i)
      results[i] = results[same[i]];
  return results;
}

} // namespace tutti
