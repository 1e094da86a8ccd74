// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a cubin: an ELF file with sections of attributes (.nv.info), for whose names `cuobjdump -elf` is the public
// source.
#include "Cubin.h"
#include "compiler/support/Error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

namespace tutti {

using Elf = llvm::object::ELF64LE;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;

namespace {

enum Format : uint8_t { formatNone = 1, formatByte = 2, formatHalf = 3, formatSized = 4 };
enum Attribute : uint8_t {
  attributeMaxThreads = 0x05,   // in .nv.info.KERNEL: x, y, z of __launch_bounds__
  attributeReqThreads = 0x10,   // the same, where a block must have exactly so many
  attributeFrameSize = 0x11,    // in .nv.info: symbol, bytes of the function's own frame
  attributeMinStackSize = 0x12, // in .nv.info: symbol, bytes with all that it calls
  attributeRegisters = 0x2f,    // in .nv.info: symbol, registers per thread
  attributeBarriers = 0x4c,     // in .nv.info.KERNEL, since CUDA 13
};
constexpr uint8_t entrySymbol = 0x10; // of st_other: a kernel

/// Called for each attribute. Its value has two bytes, or as many as the attribute says.
using Visit = llvm::function_ref<void(uint8_t attribute, llvm::StringRef value)>;

llvm::Error damaged(const llvm::Twine &what) { return fail(ExitCode::malformed, "damaged cubin: " + what); }

llvm::Error visitAttributes(llvm::StringRef section, Visit visit) {
  while (!section.empty()) {
    if (section.size() < 4)
      return damaged("an attribute ends early");
    uint8_t format = section[0], attribute = section[1];
    llvm::StringRef value = section.slice(2, 4);
    section = section.drop_front(4);
    if (format == formatSized) {
      uint16_t bytes = read16le(value.data());
      if (bytes > section.size())
        return damaged("an attribute is longer than its section");
      value = section.take_front(bytes);
      section = section.drop_front(bytes);
    } else if (format < formatNone || format > formatSized) {
      return damaged("an attribute has the unknown format " + llvm::Twine(unsigned(format)));
    }
    visit(attribute, value);
  }
  return llvm::Error::success();
}

uint32_t word(llvm::StringRef value, size_t i) { return read32le(value.data() + 4 * i); }

/// The compute capability; its position in the header changed with the ABI of CUDA 13.
unsigned capabilityOf(const Elf::Ehdr &header) {
  return header.e_ident[llvm::ELF::EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
}

class Cubin {
public:
  /// Reads the tables of sections and symbols.
  llvm::Error open(llvm::StringRef bytes) {
    auto opened = llvm::object::ELFFile<Elf>::create(bytes);
    if (!opened)
      return opened.takeError();
    file.emplace(*opened);
    if (file->getHeader().e_machine != llvm::ELF::EM_CUDA)
      return damaged("not for a GPU");
    auto sections = file->sections();
    if (!sections)
      return sections.takeError();
    for (const Elf::Shdr &section : *sections) {
      auto name = file->getSectionName(section);
      if (!name)
        return name.takeError();
      named[*name] = &section;
      if (section.sh_type == llvm::ELF::SHT_SYMTAB)
        symbolSection = &section;
    }
    return symbolSection ? llvm::Error::success() : damaged("no symbols");
  }

  /// All kernels by name, with what each takes.
  llvm::Error read(std::vector<KernelResources> &kernels) {
    if (llvm::Error error = findKernels(kernels))
      return error;
    if (llvm::Error error = readShared(kernels))
      return error;
    for (KernelResources &kernel : kernels)
      if (llvm::Error error = readOwn(kernel))
        return error;
    llvm::sort(kernels, [](const KernelResources &a, const KernelResources &b) { return a.name < b.name; });
    return llvm::Error::success();
  }

private:
  std::optional<llvm::object::ELFFile<Elf>> file;
  llvm::StringMap<const Elf::Shdr *> named;
  const Elf::Shdr *symbolSection = nullptr;
  llvm::DenseMap<uint32_t, size_t> kernelOfSymbol;

  /// The bytes of a section; none where it is not there.
  llvm::Expected<llvm::StringRef> contents(const llvm::Twine &name) {
    const Elf::Shdr *section = named.lookup(name.str());
    if (!section)
      return llvm::StringRef();
    auto data = file->getSectionContents(*section);
    if (!data)
      return data.takeError();
    return llvm::toStringRef(*data);
  }

  llvm::Error findKernels(std::vector<KernelResources> &kernels) {
    auto symbols = file->symbols(symbolSection);
    if (!symbols)
      return symbols.takeError();
    auto strings = file->getStringTableForSymtab(*symbolSection);
    if (!strings)
      return strings.takeError();
    for (auto [i, symbol] : llvm::enumerate(*symbols)) {
      if (symbol.getType() != llvm::ELF::STT_FUNC || !(symbol.st_other & entrySymbol))
        continue;
      auto name = symbol.getName(*strings);
      if (!name)
        return name.takeError();
      kernelOfSymbol[i] = kernels.size();
      kernels.push_back({name->str()});
    }
    return llvm::Error::success();
  }

  /// Reads the section that all kernels share.
  llvm::Error readShared(std::vector<KernelResources> &kernels) {
    auto all = contents(".nv.info");
    if (!all)
      return all.takeError();
    return visitAttributes(*all, [&](uint8_t attribute, llvm::StringRef value) {
      if (value.size() < 8)
        return;
      auto kernel = kernelOfSymbol.find(word(value, 0));
      if (kernel == kernelOfSymbol.end())
        return;
      KernelResources &resources = kernels[kernel->second];
      if (attribute == attributeRegisters)
        resources.registers = word(value, 1);
      else if (attribute == attributeFrameSize || attribute == attributeMinStackSize)
        resources.stack = std::max(resources.stack, word(value, 1));
    });
  }

  /// Reads the sections of one kernel.
  llvm::Error readOwn(KernelResources &kernel) {
    auto own = contents(".nv.info." + kernel.name);
    if (!own)
      return own.takeError();
    if (llvm::Error error = visitAttributes(*own, [&](uint8_t attribute, llvm::StringRef value) {
          if ((attribute == attributeMaxThreads || attribute == attributeReqThreads) && value.size() >= 12)
            kernel.maxThreads = word(value, 0) * word(value, 1) * word(value, 2);
          else if (attribute == attributeBarriers)
            kernel.barriers = uint8_t(value[0]);
        }))
      return error;
    const Elf::Shdr *text = named.lookup(".text." + kernel.name);
    if (!text || kernel.registers == 0)
      return damaged("kernel '" + kernel.name + "' has no " + (text ? "register count" : "code"));
    kernel.barriers = std::max<unsigned>(kernel.barriers, text->sh_flags >> 20 & 0x7f); // until CUDA 12
    if (const Elf::Shdr *shared = named.lookup(".nv.shared." + kernel.name)) {
      // From compute capability 9.0 on the section begins with the kilobyte that the system reserves.
      uint64_t reserved = capabilityOf(file->getHeader()) >= 90 ? 1024 : 0;
      kernel.staticShared = unsigned(shared->sh_size > reserved ? shared->sh_size - reserved : 0);
    }
    if (const Elf::Shdr *local = named.lookup(".nv.local." + kernel.name))
      kernel.stack = std::max(kernel.stack, unsigned(local->sh_size));
    return llvm::Error::success();
  }
};

llvm::Error readKernels(llvm::StringRef bytes, std::vector<KernelResources> &kernels) {
  Cubin cubin;
  if (llvm::Error error = cubin.open(bytes))
    return error;
  return cubin.read(kernels);
}

} // namespace

llvm::Expected<std::vector<KernelResources>> readCubin(llvm::StringRef bytes) {
  std::vector<KernelResources> kernels;
  llvm::Error error = readKernels(bytes, kernels);
  if (error.isA<CompileError>())
    return error;
  if (error)
    return damaged(llvm::toString(std::move(error)));
  return kernels;
}

llvm::Error checkResources(const KernelResources &kernel, const Architecture &architecture, const LaunchNeeds &needs) {
  auto refuse = [&](const llvm::Twine &what) {
    return fail(ExitCode::internal, "kernel '" + kernel.name + "' for " + architecture.name + " " + what);
  };
  if (kernel.stack)
    return refuse("has a stack frame of " + llvm::Twine(kernel.stack) + " bytes, expected none: it spills, with " +
                  llvm::Twine(kernel.registers) + " registers a thread and blocks of " +
                  llvm::Twine(kernel.maxThreads) + " threads");
  unsigned threads = needs.threads ? needs.threads : kernel.maxThreads;
  if (threads > Architecture::threadsPerBlock || (kernel.maxThreads && threads > kernel.maxThreads))
    return refuse("has blocks of " + llvm::Twine(threads) + " threads, expected at most " +
                  llvm::Twine(kernel.maxThreads ? std::min<unsigned>(kernel.maxThreads, Architecture::threadsPerBlock)
                                                : Architecture::threadsPerBlock));
  // Registers are given to a warp in units of 256.
  uint64_t registers = llvm::divideCeil(threads, 32) * llvm::alignTo(uint64_t(kernel.registers) * 32, 256);
  if (kernel.registers > Architecture::registersPerThread || registers > Architecture::registersPerBlock)
    return refuse("has " + llvm::Twine(kernel.registers) + " registers a thread and blocks of " + llvm::Twine(threads) +
                  " threads, expected at most " + llvm::Twine(Architecture::registersPerThread) + " and " +
                  llvm::Twine(Architecture::registersPerBlock) + " in all");
  uint64_t shared = uint64_t(kernel.staticShared) + needs.dynamicShared;
  if (shared > uint64_t(architecture.sharedPerBlock))
    return refuse("has " + llvm::Twine(shared) + " bytes of shared memory a block, expected at most " +
                  llvm::Twine(architecture.sharedPerBlock));
  if (kernel.barriers > Architecture::barriersPerBlock)
    return refuse("has " + llvm::Twine(kernel.barriers) + " barriers, expected at most " +
                  llvm::Twine(Architecture::barriersPerBlock));
  return llvm::Error::success();
}

} // namespace tutti
