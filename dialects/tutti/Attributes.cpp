// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module, an input, an output, a size and a sum say of themselves: passes read these attributes as their
// description has them.
#include "Heads.h"
#include "Module.h"
#include "Ports.h"
#include "Tutti.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tutti {

static LogicalResult expected(Operation *op, NamedAttribute attribute, const Twine &what) {
  return op->emitError() << "expected '" << attribute.getName().getValue() << "' to be " << what << ", got "
                         << attribute.getValue();
}

static bool isCount(Attribute value, int64_t least) {
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= least;
}
static bool isRange(NamedAttribute size) {
  auto ends = dyn_cast<DenseI64ArrayAttr>(size.getValue());
  return ends && ends.size() == 2 && ends[0] >= 0 && ends[1] >= ends[0];
}

static bool isText(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && !text.empty();
}
static bool isHead(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && HeadText::parse(text);
}
/// Whether each member of the model is in one group. A group may have none.
static bool areGroups(ArrayAttr groups, std::optional<int64_t> members) {
  llvm::DenseSet<int64_t> seen;
  for (Attribute group : groups) {
    auto its = dyn_cast<DenseI64ArrayAttr>(group);
    if (!its || !llvm::all_of(its.asArrayRef(), [&](int64_t member) {
          return member >= 0 && member < members.value_or(INT64_MAX) && seen.insert(member).second;
        }))
      return false;
  }
  return groups.empty() || int64_t(seen.size()) == members.value_or(seen.size());
}

LogicalResult TuttiDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringAttr name = attribute.getName();
  Attribute value = attribute.getValue();
  if (!isa<ModuleOp>(op))
    return op->emitError() << "'" << name.getValue() << "' is no attribute of '" << op->getName() << "'";
  if (name == membersName || name == chunkName)
    return isCount(value, 1) ? success() : expected(op, attribute, "a 64-bit number, 1 or more");
  if (name == scratchPerRowName)
    return isCount(value, 0) ? success() : expected(op, attribute, "a 64-bit number, 0 or more");
  if (name == sizesName) {
    auto sizes = dyn_cast<DictionaryAttr>(value);
    return sizes && llvm::all_of(sizes, isRange)
               ? success()
               : expected(op, attribute, "the range of each size, as in {batch = array<i64: 1, 64>}");
  }
  if (name == groupsName) {
    auto groups = dyn_cast<ArrayAttr>(value);
    return groups && areGroups(groups,
                               isCount(op->getAttr(membersName), 1) ? getMembers(cast<ModuleOp>(op)) : std::nullopt)
               ? success()
               : expected(op, attribute,
                          "the members of each group, each once, as in [array<i64: 0, 2>, array<i64: 1>]");
  }
  if (name == targetName)
    return isa<TargetAttr>(value) ? success() : expected(op, attribute, "a target, as in #tutti<target cuda>");
  if (name == precisionName)
    return isa<PrecisionAttr>(value) ? success() : expected(op, attribute, "a precision, as in #tutti<precision bf16>");
  return op->emitError() << "'" << name.getValue() << "' is no attribute of a module";
}

LogicalResult TuttiDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  StringAttr name = attribute.getName();
  if (name == portName)
    return isText(attribute.getValue()) ? success() : expected(op, attribute, "a string that is not empty");
  if (name == perMemberName)
    return isa<UnitAttr>(attribute.getValue()) ? success() : expected(op, attribute, "without a value");
  return op->emitError() << "'" << name.getValue() << "' is no attribute of an input";
}

LogicalResult TuttiDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  StringAttr name = attribute.getName();
  if (name == portName)
    return isText(attribute.getValue()) ? success() : expected(op, attribute, "a string that is not empty");
  if (name == headName)
    return isHead(attribute.getValue()) ? success() : expected(op, attribute, "a head (" + headTexts + ")");
  if (name == headsName) {
    auto heads = dyn_cast<ArrayAttr>(attribute.getValue());
    return heads && llvm::all_of(heads, isHead) ? success()
                                                : expected(op, attribute, "a list of heads (" + headTexts + ")");
  }
  return op->emitError() << "'" << name.getValue() << "' is no attribute of an output";
}

/// size ::= number | (number `*`)? symbol (`*` symbol)*, where a symbol is an identifier or a string.
static ParseResult parseSize(AsmParser &parser, Size &size) {
  int64_t factor = 1;
  OptionalParseResult number = parser.parseOptionalInteger(factor);
  if (number.has_value() && failed(*number))
    return failure();
  size = Size(factor);
  if (number.has_value() && failed(parser.parseOptionalStar()))
    return success();
  do {
    SMLoc at = parser.getCurrentLocation();
    std::string symbol;
    if (failed(parser.parseKeywordOrString(&symbol)))
      return failure();
    std::optional<Size> product = size.times(Size::symbol(symbol));
    if (symbol.empty() || factor == 0)
      return parser.emitError(at, "expected a symbol with a name, and none behind 0");
    size = *product;
  } while (succeeded(parser.parseOptionalStar()));
  return success();
}
static void printSize(AsmPrinter &printer, const Size &size) {
  if (size.isFixed() || size.getFactor() != 1)
    printer << size.getFactor() << (size.isFixed() ? "" : "*");
  llvm::interleave(
      size.getSymbols(), printer.getStream(), [&](StringRef name) { printer.printKeywordOrString(name); }, "*");
}

Attribute SizesAttr::parse(AsmParser &parser, Type) {
  SMLoc at = parser.getCurrentLocation();
  Sizes sizes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parseSize(parser, sizes.emplace_back()); }))
    return {};
  return parser.getChecked<SizesAttr>(at, parser.getContext(), sizes);
}
void SizesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getValue(), printer, [&](const Size &size) { printSize(printer, size); });
  printer << '>';
}
LogicalResult SizesAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Sizes sizes) {
  for (const Size &size : sizes)
    if (size.getFactor() < 0)
      return emitError() << "expected a size of 0 or more, got " << size.str();
  return success();
}

LogicalResult SizesAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                        llvm::function_ref<InFlightDiagnostic()> emitError) const {
  size_t open = llvm::count_if(shape, ShapedType::isDynamic);
  if (open == 0 || getValue().size() != open)
    return emitError() << "expected the size of each of " << open << " '?', got " << getValue().size() << " sizes";
  for (const Size &size : getValue())
    if (size.isFixed())
      return emitError() << "expected a '?' to be of a size such as batch or 4*batch, got " << size.str();
  return success();
}

LogicalResult NumericsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, NumericsRule rule,
                                   std::optional<int64_t> chunk, NumericsProduct product) {
  if (chunk.value_or(0) < 0)
    return emitError() << "expected a chunk of 0 or more, got " << *chunk;
  if (rule == NumericsRule::lanes && chunk)
    return emitError() << "expected no chunk of the rule lanes, got " << *chunk;
  if (rule != NumericsRule::panels && product != NumericsProduct::fma)
    return emitError() << "expected the rule panels with the product " << stringifyNumericsProduct(product) << ", got "
                       << stringifyNumericsRule(rule);
  return success();
}

LogicalResult verifyLanesOrChain(Operation *op, NumericsAttr numerics) {
  if (numerics.getRule() == NumericsRule::panels)
    return op->emitOpError("expected the rule lanes or chain, got ") << stringifyNumericsRule(numerics.getRule());
  return numerics.getChunk() ? op->emitOpError("expected numerics without a chunk") : success();
}

} // namespace tutti
