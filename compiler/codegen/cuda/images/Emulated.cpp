// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running clang on kernel text.
#include "Emulated.h"
#include "DeviceText.h"
#include "compiler/support/Error.h"
#include "compiler/support/TemporaryFolder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <optional>

namespace tutti {

/// The content of the parentheses that `rest` begins with, which are taken off.
static std::optional<llvm::StringRef> takeParentheses(llvm::StringRef &rest) {
  rest = rest.ltrim();
  int depth = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    depth += rest[i] == '(' ? 1 : rest[i] == ')' ? -1 : 0;
    if (depth == 0) {
      if (i == 0)
        return std::nullopt;
      llvm::StringRef inside = rest.slice(1, i);
      rest = rest.drop_front(i + 1);
      return inside;
    }
  }
  return std::nullopt;
}

/// What follows the text, so that the driver finds its kernels: `__global__ void [__launch_bounds__(N)] NAME(` each.
static std::string kernelTable(llvm::StringRef text) {
  std::string table;
  constexpr llvm::StringLiteral keyword = "__global__";
  for (size_t at = text.find(keyword); at != text.npos; at = text.find(keyword, at + 1)) {
    llvm::StringRef rest = text.drop_front(at + keyword.size());
    std::string threads = "0";
    while (true) {
      rest = rest.ltrim();
      llvm::StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      rest = rest.drop_front(word.size());
      if (word.empty())
        break; // no definition: a mention in a comment, say
      if (word == "void")
        continue;
      bool isBounds = word == "__launch_bounds__";
      auto inside = takeParentheses(rest);
      if (isBounds && inside)
        threads = inside->split(',').first.str();
      if (isBounds || word == "__cluster_dims__")
        continue;
      if (inside && rest.ltrim().starts_with("{"))
        table += "TUTTI_EMULATED_KERNEL(" + word.str() + ", " + threads + ")\n";
      break;
    }
  }
  return table;
}

/// One source of all units: their headers, then each in a namespace of its own, under its own name and lines.
static std::string join(llvm::ArrayRef<EmulatedUnit> units) {
  std::string headers, bodies;
  for (auto [i, unit] : llvm::enumerate(units)) {
    for (llvm::StringRef line : llvm::split(unit.text, '\n'))
      if (line.starts_with("#include") && !llvm::StringRef(headers).contains(line))
        headers += (line + "\n").str();
    bodies += ("namespace unit" + llvm::Twine(i) + " {\n#line 1 \"" + unit.name + "\"\n" + unit.text + "\n" +
               kernelTable(unit.text) + "}\n")
                  .str();
  }
  return headers + bodies;
}

static llvm::Expected<std::string> findClang() {
  const char *named = std::getenv("TUTTI_CLANG");
  auto clang = llvm::sys::findProgramByName(named ? named : TUTTI_CLANG);
  if (!clang || !llvm::sys::fs::can_execute(*clang)) // a path is taken as it is
    return fail(ExitCode::device, "the emulated device needs clang++ to compile kernels, and " +
                                      quote(named ? named : TUTTI_CLANG) + " is not there: set TUTTI_CLANG");
  return *clang;
}

/// The sources, and the headers that they include.
static llvm::Error writeSources(const TemporaryFolder &folder, llvm::ArrayRef<EmulatedUnit> units) {
  if (std::error_code error = llvm::sys::fs::create_directory(folder.path("tutti")))
    return fail(ExitCode::resource, "cannot make a temporary folder: " + error.message());
  for (const DeviceHeader &header : deviceHeaders())
    if (llvm::Error error = folder.write(header.name, header.text))
      return error;
  return folder.write("kernels.cu", join(units));
}

/// The compiler's arguments. As for NVRTC, nothing is fused or reassociated that the text does not fuse. The sanitizer
/// checks local arrays and arithmetic; views check themselves. Optimising would take ten times as long, and at the
/// sizes of tests would save less.
static std::vector<std::string> argumentsFor(const TemporaryFolder &folder, const EmulatedOptions &options) {
  std::vector<std::string> arguments = {
      "-x", "c++", "-std=c++23", "-O0", "-march=x86-64-v3", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti",
      "-fvisibility=hidden",
      // A shared object that needs only itself and the C library, with reproducible bytes.
      "-fPIC", "-shared", "-nostartfiles", "-fuse-ld=lld", "-Wl,--threads=1", "-Wl,--no-undefined", "-Wl,-Bsymbolic",
      "-Wl,--build-id=none", "-ffile-prefix-map=" + folder.path("") + "=",
      "-fsanitize=array-bounds,shift,integer-divide-by-zero,signed-integer-overflow,float-cast-overflow,unreachable,"
      "return",
      "-fno-sanitize-link-runtime", "-fsanitize-undefined-strip-path-components=-1", "-fstack-clash-protection",
      "-I" + folder.path(""), "-DTUTTI_CAPABILITY=" + std::to_string(options.capability)};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  return arguments;
}

llvm::Expected<std::string> compileEmulated(llvm::ArrayRef<EmulatedUnit> units, const EmulatedOptions &options) {
  llvm::Expected<std::string> clang = findClang();
  if (!clang)
    return clang.takeError();
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::create("tutti-emulated");
  if (!folder)
    return folder.takeError();
  if (llvm::Error error = writeSources(*folder, units))
    return std::move(error);
  std::string output = folder->path("image.so"), log = folder->path("log"), message;
  std::vector<std::string> arguments = argumentsFor(*folder, options);
  arguments.insert(arguments.begin(), *clang);
  arguments.insert(arguments.end(), {folder->path("kernels.cu"), "-o", output, "-lm"});
  std::vector<llvm::StringRef> views(arguments.begin(), arguments.end());
  int status = llvm::sys::ExecuteAndWait(*clang, views, std::nullopt, {"", log, log}, 300, 0, &message);
  if (status != 0) {
    auto said = llvm::MemoryBuffer::getFile(log);
    return fail(ExitCode::internal, "the host's compiler refuses kernel text: " + message + "\n" +
                                        (said ? (*said)->getBuffer() : llvm::StringRef()));
  }
  auto image = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!image)
    return fail(ExitCode::resource, "cannot read the image: " + image.getError().message());
  return (*image)->getBuffer().str();
}

} // namespace tutti
