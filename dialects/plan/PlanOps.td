// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executable dialect: kernels, programs, buffers and launches, the nouns of the artifact's schema.
#ifndef PLAN_OPS_TD
#define PLAN_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "plan/PlanEnums.td"
include "tutti/TuttiAttributes.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let summary = "How an ensemble runs: which kernels, over which buffers, in which order.";
  let cppNamespace = "::tutti::plan";
  let dependentDialects = ["::tutti::TuttiDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Plan_FamilyAttr : EnumAttr<Plan_Dialect, Plan_Family, "family">;
def Plan_SpaceAttr : EnumAttr<Plan_Dialect, Plan_Space, "space">;
def Plan_LayoutAttr : EnumAttr<Plan_Dialect, Plan_Layout, "layout">;

def Plan_ScheduleAttr : AttrDef<Plan_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "what decides the speed of a kernel, but no bit";
  let description = [{
    A task has at most `tile` rows, a multiple of `quantum`. `overhead` is what a task costs beside its rows, in rows;
    `scratch` is a worker's working memory in bytes.

    Example: `#plan.schedule<tile = 64, quantum = 8, overhead = 4, scratch = 69696>`
  }];
  let parameters = (ins "int64_t":$tile, "int64_t":$quantum, "int64_t":$overhead, "int64_t":$scratch);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_PortAttr : AttrDef<Plan_Dialect, "Port"> {
  let mnemonic = "port";
  let summary = "what identifies an input or output to callers";
  let description = [{
    Its `name`, and for an output also the `head`: `members`, `mean`, `quantile:0.25` ...

    Example: `#plan.port<name = "y", head = "mean">`
  }];
  let parameters = (ins StringRefParameter<>:$name, StringRefParameter<"", [{""}]>:$head);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_Buffer : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a run of memory that launches read and write";
  let description = [{The value of a plan.buffer, which says where the memory lies, how long it is and what tensor it holds.}];
}

// In assembly formats `` stands before an enum, whose printer adds its own space.
class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, Tutti_EndsInYield]> {
  let summary = "one function for one fused region";
  let description = [{
    The body consists of tutti ops on whole tensors, from the block's arguments to the `tutti.yield`. One task computes
    a tile of rows, of one member (`lifted`) or of what all members share. `rows` are the sizes of the axes that are
    rows: every computed value but a head is `[active,] rows..., columns`. `over` is the size that a task's member
    counts up to, if that is a group's and not "active". `weights` are the arguments that are parameters. `placed` are
    the arguments, and results counted behind them, of which all groups' members have a part. A lifted argument of
    either kind is reached through a table with an address for each member. The family says which emitter takes the
    kernel: `chain` (contractions with weights, and what is between them), `row` (reductions along a row), `element`
    (anything else).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_FamilyAttr:$family, UnitAttr:$lifted, OptionalAttr<StrAttr>:$over, Tutti_SizesAttr:$rows,
                       DenseI64ArrayAttr:$weights, OptionalAttr<DenseI64ArrayAttr>:$placed, OptionalAttr<Plan_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `` $family (`lifted` $lifted^)? (`over` $over^)? `rows` `` $rows `weights` $weights (`placed` $placed^)? (`schedule` `` $schedule^)? attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// The size that counts the members of a launch.
    ::llvm::StringRef membersSize() { return getOver().value_or(::tutti::activeName); }
    bool isPlaced(int64_t buffer) { return ::llvm::is_contained(getPlaced().value_or(::llvm::ArrayRef<int64_t>()), buffer); }
    /// What the body yields.
    ::mlir::ValueRange getYielded() { return getBody().front().back().getOperands(); }
    /// The number of rows; nothing past 63 bits.
    ::std::optional<::tutti::Size> rowCount();
    /// Whether heads compute some of its results: then its launches have tickets.
    bool hasHeads();
    /// A size in the kernel's arguments or values that `isKnown` denies; nothing if it knows all.
    ::std::optional<::std::string> unknownSize(::llvm::function_ref<bool(::llvm::StringRef)> isKnown);
  }];
  let hasVerifier = 1;
}

def Plan_DispatchOp : Plan_Op<"dispatch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a kernel applied to whole tensors, before memory is planned";
  let description = [{Inputs and results have the types of the kernel's arguments and of its yielded values.}];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Tutti_Tensor>:$inputs);
  let results = (outs Variadic<Tutti_Tensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let extraClassDeclaration = [{
    /// The kernel of that name.
    KernelOp lookupKernel();
  }];
}

def Plan_ProgramOp : Plan_Op<"program", [Symbol, SingleBlock, NoTerminator, IsolatedFromAbove]> {
  let summary = "the steps of one entry for one class of target";
  let description = [{
    `sizes` has for each symbol of a call its smallest and largest value. `flops` are sizes whose sum counts the
    operations of the members' contractions as the model files state them, two per multiply-add. `arena` is the bytes of
    all intermediate buffers at the largest sizes. With `chunk`, at most that many members run at once, piece after
    piece of the active set. `strips` is a size that every buffer has either on its outermost axis behind the members'
    or on none: launches may then run strip by strip of it, some places at a time, which a runtime does where that saves
    time.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Tutti_TargetAttr:$target, DictionaryAttr:$sizes, Tutti_SizesAttr:$flops, I64Attr:$arena,
                       OptionalAttr<I64Attr>:$chunk, OptionalAttr<StrAttr>:$strips);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `target` `` $target `sizes` $sizes `flops` `` $flops `arena` $arena attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// The symbols of `sizes` in the order in which kernels are given their values and the artifact lists them: "active",
    /// then the others.
    ::std::vector<::std::string> sizeOrder();
    /// `sizes`, parsed.
    ::llvm::SmallVector<::tutti::SizeRange> ranges();
    /// The range of a symbol, and its largest value; nothing for one that is not in `sizes`.
    ::std::optional<::tutti::SizeRange> rangeOf(::llvm::StringRef symbol);
    ::std::optional<int64_t> mostOf(::llvm::StringRef symbol);
    /// A symbol's largest value for one piece of the members.
    ::std::optional<int64_t> mostOfPiece(::llvm::StringRef symbol);
  }];
  let hasVerifier = 1;
}

def Plan_BufferOp : Plan_Op<"buffer", [HasParent<"ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "names a run of memory";
  let description = [{
    Its length is that of the elements of its `type`. A constant is a parameter's slot; state is zeroed once. In a
    program that runs in pieces, a `whole` buffer holds the values of all active members, any other buffer in the arena
    those of a piece. `port` describes an input or output. A constant has a `param`, or a `value` that stands in the IR,
    and a `layout`: `raw`, or a matrix of float32, or of words of four bytes, as kernels read it.
  }];
  let arguments = (ins Plan_SpaceAttr:$space, TypeAttrOf<Tutti_Tensor>:$type, DefaultValuedAttr<I64Attr, "0">:$offset,
                       OptionalAttr<Plan_PortAttr>:$port, OptionalAttr<FlatSymbolRefAttr>:$param, OptionalAttr<Plan_LayoutAttr>:$layout,
                       OptionalAttr<ElementsAttr>:$value, UnitAttr:$whole);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "`` $space `:` $type (`port` `` $port^)? (`layout` `` $layout^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_LaunchOp : Plan_Op<"launch", [
    ParentOneOf<["ProgramOp", "ParallelOp"]>, AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel over the active set and the rows of the call";
  let description = [{
    It reads the buffers of the kernel's arguments and writes those of its results; `tickets` count the tasks that have
    come to heads. In a program that runs in pieces, a `whole` launch, which has heads or needs their results, runs
    once, after all pieces, and one that is not lifted runs in the first piece alone.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Arg<Variadic<Plan_Buffer>, "", [MemRead]>:$inputs, Arg<Variadic<Plan_Buffer>, "", [MemWrite]>:$outputs,
                       Arg<Optional<Plan_Buffer>, "", [MemRead, MemWrite]>:$tickets, UnitAttr:$whole);
  let assemblyFormat = "$kernel `(` $inputs `)` `to` ` ` `(` $outputs `)` (`tickets` $tickets^)? (`whole` $whole^)? attr-dict";
  let extraClassDeclaration = [{
    /// The kernel of that name.
    KernelOp lookupKernel();
  }];
}

def Plan_ParallelOp : Plan_Op<"parallel", [
    HasParent<"ProgramOp">, SingleBlock, NoTerminator, RecursiveMemoryEffects, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "independent launches, run as one";
  let description = [{
    They belong to groups of unequal members, or to parts of a model that do not depend on each other. Their tasks are
    one list with one beginning and one end.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

#endif
