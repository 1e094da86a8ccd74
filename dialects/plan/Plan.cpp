// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the plan dialect, and what its ops' attributes have to say for the stages behind to believe them.
#include "Plan.h"
#include "dialects/tutti/Heads.h"
#include "dialects/tutti/Model.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/plan/PlanDialect.cpp.inc"
#include "dialects/plan/PlanEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/PlanAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"

namespace tutti::plan {

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/plan/PlanAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/plan/PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/PlanOps.cpp.inc"
      >();
}

/// Checks that the sizes of `what` an op has, the program or one in it, use only the program's symbols.
static LogicalResult expectKnown(Operation *op, ProgramOp program, StringRef what, ArrayRef<Size> sizes) {
  for (const Size &size : sizes)
    for (const std::string &symbol : size.getSymbols())
      if (!program.getSizes().contains(symbol))
        return op->emitOpError("expected ")
               << what << " to be of the program's sizes " << program.getSizes() << ", got " << size.str();
  return success();
}

/// Checks that values of the type can be in a kernel, or lie in a buffer.
static LogicalResult expectTensor(Operation *op, Type type) {
  std::optional<std::string> fault = faultOf(type);
  return fault ? op->emitOpError(*fault) : success();
}

/// Checks that the op's `what` ascend from 0 to below `count`.
static LogicalResult expectBelow(Operation *op, StringRef what, ArrayRef<int64_t> indices, size_t count) {
  for (auto [i, index] : llvm::enumerate(indices))
    if (index < (i ? indices[i - 1] + 1 : 0) || index >= int64_t(count))
      return op->emitOpError("expected ") << what << " that ascend, below " << count << ", got " << index;
  return success();
}

std::optional<Size> KernelOp::rowCount() { return product(getRows().getValue()); }

bool KernelOp::hasHeads() {
  return llvm::any_of(getBody().front(), [](Operation &op) { return isa<HeadOp>(op); });
}

std::optional<std::string> KernelOp::unknownSize(llvm::function_ref<bool(StringRef)> isKnown) {
  auto unknownOf = [&](TypeRange types) -> std::optional<std::string> {
    for (Type type : types)
      for (const Size &size : tutti::getSizes(cast<RankedTensorType>(type)))
        for (const std::string &symbol : size.getSymbols())
          if (!isKnown(symbol))
            return symbol;
    return std::nullopt;
  };
  std::optional<std::string> unknown = unknownOf(getBody().getArgumentTypes());
  for (Operation &op : getBody().front())
    if (!unknown)
      unknown = unknownOf(op.getResultTypes());
  return unknown;
}

LogicalResult KernelOp::verify() {
  size_t arguments = getBody().getNumArguments();
  Block &body = getBody().front();
  for (Type type : body.getArgumentTypes())
    if (failed(expectTensor(*this, type)))
      return failure();
  for (Operation &op : body.without_terminator()) {
    if (!isa<MapOp, KernelOpInterface, ReshapeOp>(op))
      return op.emitOpError("is no op that a kernel is made of");
    for (Type type : op.getResultTypes())
      if (failed(expectTensor(&op, type)))
        return failure();
  }
  if (getOver() && !getLifted())
    return emitOpError("expected a kernel that is not lifted to be over no group, got \"") << *getOver() << '"';
  if (!isActiveName(membersSize()))
    return emitOpError("expected 'over' to be the size of a group, such as \"active.1\", got \"") << *getOver() << '"';
  // Emitters find an element by its member, row and column.
  for (Value value : getYielded()) {
    if (value.getDefiningOp<HeadOp>())
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    Sizes sizes = tutti::getSizes(type);
    ArrayRef<Size> rows = ArrayRef(sizes).drop_front(isLifted(type));
    rows = rows.drop_back(!rows.empty());
    if (isLifted(type) != getLifted() || rows != getRows().getValue() ||
        (getLifted() && sizes.front() != Size::symbol(membersSize())))
      return emitOpError("expected what it yields to be of ")
             << (getLifted() ? membersSize() + " members, " : "") << "rows " << str(getRows().getValue())
             << " and columns, got " << type;
  }
  if (getFamily() == Family::chain && body.getOps<ContractOp>().empty())
    return emitOpError("expected a contraction in a kernel of the family chain");
  if (failed(expectBelow(*this, "'weights'", getWeights(), arguments)))
    return failure();
  for (int64_t weight : getWeights())
    for (Operation *user : getBody().getArgument(weight).getUsers())
      if (isa<HeadOp>(user))
        return user->emitOpError("is of argument ") << weight << ", which a task has of its own member alone";
  return expectBelow(*this, "'placed'", getPlaced().value_or(ArrayRef<int64_t>()), arguments + getYielded().size());
}

KernelOp DispatchOp::lookupKernel() { return SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr()); }
KernelOp LaunchOp::lookupKernel() { return SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr()); }

/// The kernel of that name, or an error that there is none.
static KernelOp expectKernel(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(op, name);
  if (!kernel)
    op->emitOpError("there is no kernel ") << name;
  return kernel;
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  KernelOp kernel = expectKernel(*this, getKernelAttr(), symbols);
  if (!kernel)
    return failure();
  auto taken = kernel.getBody().getArgumentTypes();
  auto given = kernel.getYielded().getTypes();
  if (getInputs().getTypes() != taken)
    return emitOpError("expected inputs of the types ")
           << taken << " as the kernel has them, got " << getInputs().getTypes();
  if (getResultTypes() != given)
    return emitOpError("expected results of the types ")
           << given << " as the kernel has them, got " << getResultTypes();
  return success();
}

std::vector<std::string> ProgramOp::sizeOrder() {
  std::vector<std::string> symbols{activeName.str()};
  for (NamedAttribute size : getSizes())
    if (size.getName() != activeName)
      symbols.push_back(size.getName().str());
  return symbols;
}

std::optional<SizeRange> ProgramOp::rangeOf(StringRef symbol) {
  auto range = getSizes().getAs<DenseI64ArrayAttr>(symbol);
  return range ? std::optional(SizeRange{symbol.str(), range[0], range[1]}) : std::nullopt;
}

SmallVector<SizeRange> ProgramOp::ranges() {
  return llvm::map_to_vector(getSizes(), [&](NamedAttribute size) { return *rangeOf(size.getName()); });
}

std::optional<int64_t> ProgramOp::mostOf(StringRef symbol) {
  std::optional<SizeRange> range = rangeOf(symbol);
  return range ? std::optional(range->most) : std::nullopt;
}

std::optional<int64_t> ProgramOp::mostOfPiece(StringRef symbol) {
  std::optional<int64_t> most = mostOf(symbol);
  return most && isActiveName(symbol) ? std::min<int64_t>(*most, getChunk().value_or(*most)) : most;
}

LogicalResult ProgramOp::verify() {
  for (NamedAttribute size : getSizes()) {
    auto range = dyn_cast<DenseI64ArrayAttr>(size.getValue());
    if (!range || range.size() != 2 || range[0] < 0 || range[0] > range[1])
      return emitOpError("expected the smallest and the largest value of '")
             << size.getName().getValue() << "', got " << size.getValue();
  }
  if (!getSizes().contains(activeName))
    return emitOpError("expected '") << activeName << "' among the sizes, got " << getSizes();
  if (int64_t(getArena()) < 0 || int64_t(getChunk().value_or(1)) < 1)
    return emitOpError("expected an arena of 0 bytes or more, and pieces of a member or more");
  if (auto axis = getStrips(); axis && (!getSizes().contains(*axis) || isActiveName(*axis)))
    return emitOpError("expected 'strips' to be a size of the call, got '") << *axis << "'";
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected a body without arguments, got ") << getBody().getNumArguments();
  for (Operation &op : getBody().front())
    if (!isa<BufferOp, LaunchOp, ParallelOp>(op))
      return op.emitOpError("is no op that a program is made of");
  return expectKnown(*this, *this, "'flops'", getFlops().getValue());
}

LogicalResult PortAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef name, StringRef head) {
  if (name.empty())
    return emitError() << "expected a name that is not empty";
  if (!head.empty() && !HeadText::parse(head))
    return emitError() << "expected a head (" << headTexts << "), got '" << head << "'";
  return success();
}

LogicalResult BufferOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  auto program = cast<ProgramOp>((*this)->getParentOp());
  if (failed(expectKnown(*this, program, "its sizes", tutti::getSizes(type))))
    return failure();
  if (int64_t offset = getOffset(); offset < 0 || offset % lineBytes || (offset && getSpace() != Space::arena))
    return emitOpError("expected an offset in the arena that is a multiple of ") << lineBytes << ", got " << offset;
  if (getSpace() == Space::arena) {
    std::optional<Size> size = tutti::bytesOf(type);
    auto most = [&](StringRef symbol) { return getWhole() ? program.mostOf(symbol) : program.mostOfPiece(symbol); };
    std::optional<int64_t> bytes = size ? size->at(most) : std::nullopt;
    if (!bytes || *bytes > int64_t(program.getArena()) - int64_t(getOffset()))
      return emitOpError("expected to lie in the arena of ")
             << program.getArena() << " bytes, from " << getOffset() << ", got " << type;
  }
  if (bool isPort = getSpace() == Space::input || getSpace() == Space::output; isPort != bool(getPort()))
    return emitOpError("expected a 'port' of an input and an output, and of no other, got ")
           << (isPort ? "none of " : "one of ") << stringifySpace(getSpace());
  if (getPort() && getSpace() == Space::input && !getPortAttr().getHead().empty())
    return emitOpError("expected an input without a head, got ") << getPortAttr();
  if ((getParam() || getValue() || getLayout()) && getSpace() != Space::constant)
    return emitOpError("expected 'param', 'value' and 'layout' of a constant only, got one of ")
           << stringifySpace(getSpace());
  if (getParam() && getValue())
    return emitOpError("expected a constant's 'param' or its 'value', got both");
  if (getSpace() == Space::constant && (!getLayout() || (!getParam() && !getValue())))
    return emitOpError("expected a constant's 'layout', and its 'param' or its 'value'");
  if (auto value = getValue(); value && value->getType() != type)
    return emitOpError("expected a 'value' of its type, got one of ") << value->getType();
  Layout layout = getLayout().value_or(Layout::raw);
  Type element = type.getElementType();
  bool fits = element.isF32() || // a word is of four bytes
              (layout == Layout::panels && (element.isSignlessInteger(32) || element.isF64()));
  if (layout != Layout::raw && (!fits || type.getRank() - isLifted(type) != 2))
    return emitOpError("expected a matrix of float32")
           << (layout == Layout::panels ? ", of i32 or of float64" : "") << " to lie in " << stringifyLayout(layout)
           << ", got " << getType();
  return success();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getParam())
    return success();
  auto param = symbols.lookupNearestSymbolFrom<ParamOp>(*this, getParamAttr());
  if (!param)
    return emitOpError("there is no parameter ") << getParamAttr();
  auto type = cast<RankedTensorType>(getType()), each = cast<RankedTensorType>(param.getType());
  if (Sizes sizes = tutti::getSizes(type);
      type.getElementType() != each.getElementType() ||
      ArrayRef(sizes).drop_front(isLifted(type)) != ArrayRef(tutti::getSizes(each)))
    return emitOpError("expected the type of the parameter ") << getParamAttr() << ", which is " << each;
  return success();
}

LogicalResult ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t tile, int64_t quantum,
                                   int64_t overhead, int64_t scratch) {
  if (quantum < 1 || tile < 1 || tile % quantum != 0)
    return emitError() << "expected a tile that is a multiple of the quantum, got " << tile << " and " << quantum;
  if (overhead < 0 || scratch < 0)
    return emitError() << "expected an overhead and scratch of 0 or more, got " << overhead << " and " << scratch;
  return success();
}

/// Checks that a buffer has as many elements as a kernel's value, and its type; of a buffer that all groups have a part
/// of, only the type. With a single member, shared and lifted values have the same elements.
static LogicalResult expectFits(LaunchOp op, Value buffer, RankedTensorType type, bool isPlaced) {
  auto named = buffer.getDefiningOp<BufferOp>();
  auto given = cast<RankedTensorType>(named.getType());
  bool isOnly = op->getParentOfType<ProgramOp>().mostOf(activeName) == 1;
  auto elements = [&](RankedTensorType of) {
    return product(ArrayRef(tutti::getSizes(of)).drop_front(isOnly && isLifted(of)));
  };
  if (given.getElementType() == type.getElementType() && (isPlaced || elements(given) == elements(type)))
    return success();
  return op.emitOpError("expected a buffer of ") << type << " as the kernel has it, got one of " << given;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  KernelOp kernel = expectKernel(*this, getKernelAttr(), symbols);
  if (!kernel)
    return failure();
  TypeRange taken = kernel.getBody().getArgumentTypes(), made = kernel.getYielded().getTypes();
  if (getInputs().size() != taken.size() || getOutputs().size() != made.size())
    return emitOpError("expected ") << taken.size() << " buffers for the kernel's arguments and " << made.size()
                                    << " for its results, got " << getInputs().size() << " and " << getOutputs().size();
  if (kernel.hasHeads() != bool(getTickets()))
    return emitOpError("expected tickets of a kernel with heads, and of no other");
  SmallVector<Value> buffers(getInputs());
  llvm::append_range(buffers, getOutputs());
  SmallVector<Type> types(taken);
  llvm::append_range(types, made);
  for (auto [i, buffer, type] : llvm::enumerate(buffers, types))
    if (failed(expectFits(*this, buffer, cast<RankedTensorType>(type), kernel.isPlaced(i))))
      return failure();
  if (!kernel.rowCount())
    return emitOpError("expected the kernel ") << getKernelAttr() << " to have fewer than 2^63 rows";
  // Code finds a size by its place among the program's.
  auto program = (*this)->getParentOfType<ProgramOp>();
  auto isKnown = [&](StringRef symbol) { return program.getSizes().contains(symbol); };
  std::optional<std::string> unknown = kernel.unknownSize(isKnown);
  if (!unknown && kernel.getLifted() && !isKnown(kernel.membersSize()))
    unknown = kernel.membersSize();
  if (unknown)
    return emitOpError("expected the kernel ") << getKernelAttr() << " to have no other sizes than the program's "
                                               << program.getSizes() << ", got '" << *unknown << "'";
  return success();
}

LogicalResult ParallelOp::verify() {
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected a body without arguments, got ") << getBody().getNumArguments();
  for (Operation &op : getBody().front())
    if (!isa<LaunchOp>(op))
      return emitOpError("expected launches only, got '") << op.getName() << "'";
  return success();
}

LogicalResult ParallelOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // Groups write their own parts of one buffer.
  llvm::DenseMap<Value, LaunchOp> writers;
  for (auto launch : getBody().getOps<LaunchOp>()) {
    auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
    for (auto [i, buffer] : llvm::enumerate(launch.getOutputs()))
      if (!kernel || !kernel.isPlaced(launch.getInputs().size() + i))
        if (!writers.try_emplace(buffer, launch).second)
          return launch.emitOpError("writes what another launch beside it writes");
  }
  for (auto launch : getBody().getOps<LaunchOp>())
    for (Value buffer : launch.getInputs())
      if (writers.contains(buffer))
        return launch.emitOpError("reads what a launch beside it writes");
  return success();
}

} // namespace tutti::plan

namespace tutti {

plan::ProgramOp programOf(ModuleOp planned) {
  auto programs = planned.getOps<plan::ProgramOp>();
  return programs.empty() ? plan::ProgramOp() : *programs.begin();
}

} // namespace tutti
