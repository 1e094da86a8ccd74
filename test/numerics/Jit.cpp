// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way from a math op to native code: parse, expand, lower, optimise, link.
#include "Jit.h"
#include "compiler/codegen/Passes.h"
#include "compiler/codegen/cpu/lowering/Lowering.h"
#include "dialects/tutti/Tutti.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace tutti {

struct MathLoop::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

bool MathLoop::runsHere(const std::string &cpu) {
  __builtin_cpu_init();
  return cpu == "x86-64-v4" ? __builtin_cpu_supports("x86-64-v4") : __builtin_cpu_supports("x86-64-v3");
}

static std::string source(const MathLoop::Options &o) {
  std::string type = o.lanes == 1 ? o.element : llvm::formatv("vector<{0}x{1}>", o.lanes, o.element).str();
  int bytes = StringRef(o.element).ends_with("64") ? 8 : 4;
  std::string second;
  if (!o.constant.empty())
    second = llvm::formatv(o.lanes == 1 ? "%y = arith.constant {0} : {1}" : "%y = arith.constant dense<{0}> : {1}",
                           o.constant, type);
  else if (o.one)
    second = llvm::formatv("%one = llvm.load %ys : !llvm.ptr -> {0} %y = vector.broadcast %one : {0} to {1}", o.element,
                           type);
  else if (o.operands == 2)
    second = llvm::formatv("%y = llvm.load %py {{alignment = {0}} : !llvm.ptr -> {1}", bytes, type);
  return llvm::formatv(R"(
    func.func @loop(%out: !llvm.ptr, %xs: !llvm.ptr, %ys: !llvm.ptr, %n: i64) {{
      %zero = arith.constant 0 : i64
      %step = arith.constant {0} : i64
      scf.for %i = %zero to %n step %step : i64 {{
        %px = llvm.getelementptr %xs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {1}
        %py = llvm.getelementptr %ys[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {1}
        %po = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {1}
        %x = llvm.load %px {{alignment = {2}} : !llvm.ptr -> {3}
        {5}
        %r = {4} %x{6} : {3}
        llvm.store %r, %po {{alignment = {2}} : {3}, !llvm.ptr
      }
      return
    })",
                       o.lanes, o.element, bytes, type, o.op, second, second.empty() ? "" : ", %y")
      .str();
}

MathLoop::MathLoop(const Options &options) : state(std::make_unique<State>()) {
  static bool initialized = (llvm::InitializeNativeTarget(), llvm::InitializeNativeTargetAsmPrinter(), true);
  (void)initialized;

  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  scf::SCFDialect, vector::VectorDialect, TuttiDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source(options), &context);
  if (!module)
    llvm::report_fatal_error("the source of a math loop does not parse");
  PassManager pm(&context);
  bool isAvx512 = options.cpu == "x86-64-v4";
  if (isAvx512)
    pm.addPass(createCpuExponentialsPass());
  pm.addPass(createExpandMathPass());
  if (isAvx512)
    pm.addPass(createCpuExtremesPass());
  if (options.one)
    pm.addPass(createCpuDivisionsPass());
  addConversions(pm);
  if (failed(pm.run(*module)))
    llvm::report_fatal_error("a math loop does not lower to LLVM");

  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(*module, *llvmContext);
  auto targetBuilder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  targetBuilder.setCPU(options.cpu);
  targetBuilder.getFeatures() = llvm::SubtargetFeatures();
  targetBuilder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machine = llvm::cantFail(targetBuilder.createTargetMachine());
  ir->setDataLayout(machine->createDataLayout());
  ir->setTargetTriple(machine->getTargetTriple());

  // Scalar code has to stay scalar, or it would test nothing.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = false;
  llvm::PassBuilder passes(machine.get(), tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(sccs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, sccs, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*ir, modules);

  // A library of its own that sees no symbol of this process: code that calls anything does not link.
  state->jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(targetBuilder).create());
  llvm::orc::JITDylib &library = state->jit->getExecutionSession().createBareJITDylib("code");
  llvm::cantFail(state->jit->addIRModule(library, llvm::orc::ThreadSafeModule(std::move(ir), std::move(llvmContext))));
  function = llvm::cantFail(state->jit->lookup(library, "loop"), options.op.c_str())
                 .toPtr<void (*)(void *, const void *, const void *, int64_t)>();
}

MathLoop::MathLoop(MathLoop &&) = default;
MathLoop::~MathLoop() = default;

} // namespace tutti
