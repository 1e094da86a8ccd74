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
  let summary = "what decides the speed of a kernel and no bit";
  let description = [{
    A task has at most `tile` rows, a multiple of `quantum`; `overhead` is what a task costs beside its rows, counted in rows; `scratch`
    is bytes of working memory a worker.

    Example: `#plan.schedule<tile = 64, quantum = 8, overhead = 4, scratch = 69696>`
  }];
  let parameters = (ins "int64_t":$tile, "int64_t":$quantum, "int64_t":$overhead, "int64_t":$scratch);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_PortAttr : AttrDef<Plan_Dialect, "Port"> {
  let mnemonic = "port";
  let summary = "what callers know an input or output by";
  let description = [{
    Its `name`, and of an output the `head`: `members`, `mean`, `quantile:0.25` ...

    Example: `#plan.port<name = "y", head = "mean">`
  }];
  let parameters = (ins StringRefParameter<>:$name, StringRefParameter<"", [{""}]>:$head);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_Buffer : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a run of memory that launches read and write";
  let description = [{The value of a plan.buffer, which says where it lies, how long it is and what tensor it holds.}];
}

// In formats `` stands before an enum, which brings its own space.
class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, Tutti_EndsInYield]> {
  let summary = "one function for one fused region";
  let description = [{
    The body is tutti ops on whole tensors, from the block's arguments to the `tutti.yield`. One task computes a tile of rows of
    one member (`lifted`), or of what all members share. `rows` are the sizes of the axes that are rows: every computed
    value but a head is `[active,] rows..., columns`. `over` is the size that a task's member counts up to, where it is not
    "active": that of a group. `weights` are the arguments that are parameters; `placed` are arguments, and results counted
    behind them, that all groups' members have a part of. Of both, a lifted one is reached through a table with an address for each
    member. The family says which emitter takes it: `chain` (contractions with
    weights, and what is between them), `row` (reductions along a row), `element` (anything else).
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
    /// How many rows there are; nothing past 63 bits.
    ::std::optional<::tutti::Size> rowCount();
    /// Whether heads make some of what it yields: then its launches have tickets.
    bool hasHeads();
    /// A size of what the kernel takes or computes that `isKnown` denies; nothing if it knows all.
    ::std::optional<::std::string> unknownSize(::llvm::function_ref<bool(::llvm::StringRef)> isKnown);
  }];
  let hasVerifier = 1;
}

def Plan_DispatchOp : Plan_Op<"dispatch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a kernel applied to whole tensors, before memory is planned";
  let description = [{Inputs and results have the types of the kernel's arguments and of what it yields.}];
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
    `sizes` has for each symbol of a call its smallest and largest value. `flops` are sizes whose sum is two
    per multiply-add of the members' contractions as the model files state them. `arena` is the bytes of all intermediate
    buffers at the largest sizes. With `chunk` so many members at most run at once, piece after piece of the active set.
    `strips` is a size that, in every buffer, is on the outermost axis behind the members' or on none: launches may run
    strip by strip of it, each for some places at a time, which a runtime does where that saves time.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Tutti_TargetAttr:$target, DictionaryAttr:$sizes, Tutti_SizesAttr:$flops, I64Attr:$arena,
                       OptionalAttr<I64Attr>:$chunk, OptionalAttr<StrAttr>:$strips);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `target` `` $target `sizes` $sizes `flops` `` $flops `arena` $arena attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// The symbols of `sizes` in the order in which kernels are given their values and the artifact lists them: "active",
    /// then the others.
    ::std::vector<::std::string> sizeOrder();
    /// `sizes`, read.
    ::llvm::SmallVector<::tutti::SizeRange> ranges();
    /// Of one symbol, and its largest value; nothing of one that is none of `sizes`.
    ::std::optional<::tutti::SizeRange> rangeOf(::llvm::StringRef symbol);
    ::std::optional<int64_t> mostOf(::llvm::StringRef symbol);
    /// The largest value of what a piece of the members has of a symbol.
    ::std::optional<int64_t> mostOfPiece(::llvm::StringRef symbol);
  }];
  let hasVerifier = 1;
}

def Plan_BufferOp : Plan_Op<"buffer", [HasParent<"ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "names a run of memory";
  let description = [{
    It is as long as the elements of its `type`. A constant is a parameter's slot, state is zeroed once. Of a program in pieces, a
    `whole` one holds the values of all active members, others in the arena those of a piece. `port` describes an input or output;
    `param` a constant, or `value` one that stands in the IR, and `layout` how it lies: `raw`, or a matrix of float32, or of words of four bytes, as kernels read it.
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
    It reads the buffers of the kernel's arguments and writes those of what it yields; `tickets` count the tasks that have come to
    heads. Of a program in pieces, a `whole` launch, which has heads or needs what these make, runs once, after all pieces, and one
    that is not lifted in the first piece alone.
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
  let summary = "launches that need nothing of each other, as one";
  let description = [{
    Of groups of unequal members, or of parts of a model that have nothing to do with each other. Their tasks are one list: there
    is one beginning and one end.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

#endif
