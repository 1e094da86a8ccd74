// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowering to LLVM, machine code, and linking to a flat image.
#include "Image.h"
#include "compiler/codegen/cpu/lowering/Lowering.h"
#include "compiler/support/Error.h"
#include "compiler/support/TemporaryFolder.h"

#include "lld/Common/Driver.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;

namespace tutti {

static llvm::Error internalError(const llvm::Twine &what) {
  return fail(ExitCode::internal, "code generation failed: " + what);
}

static llvm::Error lower(ModuleOp module, const CpuLevel &level) {
  PassManager passes(module.getContext());
  addLowering(passes, level);
  passes.enableVerifier(false); // once, behind all: behind each it takes as long as some of them
  if (failed(passes.run(module)) || failed(verify(module)))
    return internalError("lowering to LLVM");
  return llvm::Error::success();
}

/// LLVM's CPU name of a level, and its extra features.
static llvm::StringRef cpuOf(const CpuLevel &level) { return level.name.split('+').first; }
static llvm::StringRef featuresOf(const CpuLevel &level) { return level.name.drop_front(cpuOf(level).size()); }

static std::unique_ptr<llvm::TargetMachine> machineFor(const CpuLevel &level, std::string &error) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // LLVM must not fuse multiplications and additions: an fma is only where the IR has one.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpuOf(level), featuresOf(level), options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

/// Rewrites masked stores of one known lane as scalar stores. LLVM 22 does so itself, but for a truncated vector it
/// stores the wide element, over the memory behind the intended one. Stores of the first lanes, such as a row's last
/// columns, become stores of 8, 4, 2 and 1 lanes on levels without a fast masked store.
static void storeKnownLanes(llvm::Module &code, const CpuLevel &level) {
  for (llvm::Function &function : code)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *store = dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      llvm::Value *value = store->getArgOperand(0), *pointer = store->getArgOperand(1);
      auto *mask = dyn_cast<llvm::Constant>(store->getArgOperand(2));
      auto *type = dyn_cast<llvm::FixedVectorType>(value->getType());
      if (!mask || !type)
        continue;
      SmallVector<unsigned> stored; // but for lanes that are known not to be
      for (unsigned lane = 0; lane < type->getNumElements(); ++lane)
        if (llvm::Constant *bit = mask->getAggregateElement(lane); !bit || !bit->isNullValue())
          stored.push_back(lane);
      unsigned count = stored.size();
      bool areFirst = count > 0 && stored.back() == count - 1 && llvm::all_of(stored, [&](unsigned lane) {
                        llvm::Constant *bit = mask->getAggregateElement(lane);
                        return bit && bit->isOneValue();
                      });
      if (count != 1 && (level.storesMasked || !areFirst))
        continue;
      llvm::IRBuilder<> builder(store);
      unsigned bytes = type->getScalarSizeInBits() / 8;
      for (unsigned done = 0; done < count;) {
        unsigned now = llvm::bit_floor(count - done), lane = stored[done];
        SmallVector<int> part = llvm::to_vector(llvm::seq<int>(lane, lane + now));
        llvm::Value *place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, lane * bytes);
        builder.CreateAlignedStore(now == 1 ? builder.CreateExtractElement(value, lane)
                                            : builder.CreateShuffleVector(value, part),
                                   place, llvm::Align(bytes));
        done += now;
      }
      store->eraseFromParent();
    }
}

namespace {
/// Keeps LLVM's errors; without a handler the first one ends the process. Warnings are printed as usual.
struct ErrorsOfLlvm : llvm::DiagnosticHandler {
  explicit ErrorsOfLlvm(std::string &text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return false;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    stream << (text.empty() ? "" : "; ");
    info.print(printer);
    return true;
  }
  std::string &text;
};
} // namespace

static llvm::Expected<llvm::SmallVector<char, 0>> compile(ModuleOp module, const CpuLevel &level,
                                                          ArrayRef<std::string> kernels) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<ErrorsOfLlvm>(errors));
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "tutti");
  if (!code)
    return internalError("translation to LLVM IR");
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(level, error);
  if (!machine)
    return internalError(error);
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  std::string width = std::to_string(level.vectorBits);
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpuOf(level));
    if (!featuresOf(level).empty())
      function.addFnAttr("target-features", featuresOf(level));
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (!llvm::is_contained(kernels, function.getName().str())) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      function.addFnAttr(llvm::Attribute::NoInline);
    }
  }

  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(machine.get(), tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  // An image has no C library, so loops that fill memory must not become calls.
  llvm::TargetLibraryInfoImpl none(machine->getTargetTriple());
  none.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(none); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*code, modules);
  storeKnownLanes(*code, level);

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emitter;
  if (machine->addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return internalError("no object emitter");
  emitter.run(*code);
  if (!errors.empty())
    return internalError(errors);
  return object;
}

/// Makes the linker lay out code and constants in one run, in which every reference is relative. An undefined symbol,
/// or a relocation left for load time, is an error.
static const char linkerScript[] = R"(
SECTIONS {
  . = 0;
  .image : { *(.text .text.*) . = ALIGN(64); *(.rodata .rodata.* .lrodata .lrodata.*) }
  .rejected : { *(.data .data.* .bss .bss.* .got .got.* .init_array .init_array.* .tdata .tbss) }
  .symtab 0 : { *(.symtab) } .shstrtab 0 : { *(.shstrtab) } .strtab 0 : { *(.strtab) }
  /DISCARD/ : { *(.eh_frame .comment .note.* .llvm_addrsig) }
}
ASSERT(SIZEOF(.rejected) == 0, "the image has writable data")
)";

/// The bytes of a linked file, and where its kernels begin.
static llvm::Expected<CpuImage> readImage(const llvm::MemoryBuffer &linked, ArrayRef<std::string> kernels) {
  auto file = llvm::object::ELFObjectFile<llvm::object::ELF64LE>::create(linked);
  if (!file)
    return internalError(llvm::toString(file.takeError()));
  CpuImage image;
  for (const llvm::object::SectionRef &section : file->sections()) {
    auto name = section.getName();
    if (!name)
      return internalError(llvm::toString(name.takeError()));
    if (*name != ".image")
      continue;
    auto contents = section.getContents();
    if (!contents)
      return internalError(llvm::toString(contents.takeError()));
    image.bytes = contents->str();
  }
  llvm::StringMap<uint64_t> offsets;
  for (const llvm::object::ELFSymbolRef symbol : file->symbols()) {
    auto name = symbol.getName();
    auto value = symbol.getValue();
    if (llvm::Error error = llvm::joinErrors(name.takeError(), value.takeError()))
      return internalError(llvm::toString(std::move(error)));
    offsets[*name] = *value;
  }
  for (const std::string &kernel : kernels) {
    auto place = offsets.find(kernel);
    if (place == offsets.end())
      return internalError("the kernel " + kernel + " is missing from the image");
    image.offsets.push_back(place->second);
  }
  return image;
}

static llvm::Expected<CpuImage> link(llvm::ArrayRef<char> object, ArrayRef<std::string> kernels) {
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::create("tutti-image");
  if (!folder)
    return folder.takeError();
  std::string input = folder->path("kernels.o"), script = folder->path("image.ld"), output = folder->path("image");
  if (llvm::Error error = folder->write("kernels.o", llvm::StringRef(object.data(), object.size())))
    return error;
  if (llvm::Error error = folder->write("image.ld", linkerScript))
    return error;

  // The linker library keeps its state in globals, so only one link runs at a time, and none after one that left them
  // broken.
  static std::mutex linking;
  static bool canLink = true;
  std::lock_guard<std::mutex> guard(linking);
  if (!canLink)
    return internalError("the linker has failed before and cannot run again");
  std::string text;
  llvm::raw_string_ostream messages(text);
  std::vector<const char *> args = {"ld.lld",
                                    "-static",
                                    "--no-dynamic-linker",
                                    "--orphan-handling=error",
                                    "--entry=0",
                                    "--threads=1",
                                    "-T",
                                    script.c_str(),
                                    "-o",
                                    output.c_str(),
                                    input.c_str()};
  lld::Result result = lld::lldMain(args, messages, messages, {{lld::Gnu, &lld::elf::link}});
  canLink = result.canRunAgain;
  if (result.retCode != 0 && llvm::StringRef(text).contains(output)) // it names the file that it cannot write
    return fail(ExitCode::resource, llvm::StringRef(text).rtrim());
  if (result.retCode != 0)
    return internalError("linking: " + text);
  auto linked = llvm::MemoryBuffer::getFile(output);
  if (!linked)
    return internalError("linking left no file");
  return readImage(**linked, kernels);
}

llvm::Expected<CpuImage> buildCpuImage(ModuleOp module, const CpuLevel &level, ArrayRef<std::string> kernels) {
  if (llvm::Error error = lower(module, level))
    return error;
  auto object = compile(module, level, kernels);
  if (!object)
    return object.takeError();
  return link(*object, kernels);
}

} // namespace tutti
