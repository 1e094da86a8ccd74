// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar code as CUDA C++. NVRTC contracts nothing (--fmad=false): a product and a sum are one only where the IR says
// fma.
#include "Scalar.h"
#include "compiler/codegen/math/Math.h"
#include "compiler/support/Error.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

std::string cudaType(Type element) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  if (element.isF16())
    return "__half";
  if (element.isBF16())
    return "__nv_bfloat16";
  bool isUnsigned = cast<IntegerType>(element).isUnsigned();
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return "bool";
  case 8:
    return isUnsigned ? "unsigned char" : "signed char";
  case 16:
    return isUnsigned ? "unsigned short" : "short";
  case 32:
    return isUnsigned ? "unsigned" : "int";
  case 64:
    return isUnsigned ? "unsigned long long" : "long long";
  }
  llvm_unreachable("every element of a model is listed");
}

/// `value` as a number of type `type`. Names of several words cannot be called like functions.
static std::string castTo(const std::string &type, const std::string &value) {
  return formatv(llvm::StringRef(type).contains(' ') ? "static_cast<{0}>({1})" : "{0}({1})", type, value).str();
}

std::string cudaConstant(TypedAttr value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    int64_t number = integer.getValue().getSExtValue();
    // C++ has no literal for the smallest number of this type.
    if (number == std::numeric_limits<int64_t>::min())
      return "(-9223372036854775807ll - 1)";
    if (integer.getType().isInteger(64))
      return std::to_string(number) + "ll";
    return castTo(cudaType(integer.getType()), std::to_string(number));
  }
  auto number = cast<FloatAttr>(value);
  APFloat exact = number.getValue();
  bool isDouble = number.getType().isF64();
  std::string literal;
  if (exact.isFinite()) {
    char text[64];
    snprintf(text, sizeof text, "%a%s", number.getValueAsDouble(), isDouble ? "" : "f");
    literal = text;
  } else {
    bool lost;
    exact.convert(isDouble ? APFloat::IEEEdouble() : APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    uint64_t bits = exact.bitcastToAPInt().getZExtValue();
    literal = formatv(isDouble ? "__longlong_as_double({0:x}ll)" : "__int_as_float({0:x})", bits);
  }
  if (number.getType().isF16() || number.getType().isBF16())
    return formatv("{0}({1})", number.getType().isF16() ? "__float2half_rn" : "__float2bfloat16_rn", literal).str();
  return literal;
}

bool isFastGate(LogisticOp op, Precision precision) { return precision == Precision::bf16 && op.getGates(); }

llvm::StringRef approximation(Operation *op, Precision precision) {
  bool rounds = precision != Precision::f32 && precision != Precision::f32_ffma;
  if (!rounds || op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return "";
  return llvm::TypeSwitch<Operation *, llvm::StringRef>(op)
      .Case([](math::ExpOp) { return "fastExp"; })
      .Case([](math::LogOp) { return "fastLog"; })
      .Case([&](math::TanhOp) { return precision == Precision::bf16 ? "fastTanh" : ""; }) // 11 bits
      .Case([&](LogisticOp o) { return isFastGate(o, precision) ? "fastGate" : "fastLogistic"; })
      .Case([](Log1pExpOp) { return "fastLog1pExp"; })
      .Case([](MishGateOp) { return "fastMishGate"; })
      .Default([](Operation *) { return ""; });
}

namespace {

class Printer {
public:
  explicit Printer(Precision precision) : precision(precision) {}
  /// The statements of a function's block; `names` has those of its arguments.
  llvm::Expected<std::string> print(Block &block) {
    std::string text;
    if (llvm::Error error = statements(block, "  ", text))
      return error;
    text += "  return " + names[block.getTerminator()->getOperand(0)] + ";\n";
    return text;
  }
  llvm::DenseMap<Value, std::string> names;

private:
  Precision precision;
  unsigned count = 0;

  llvm::Error statements(Block &block, const std::string &indent, std::string &text) {
    for (Operation &op : block.without_terminator()) {
      if (isa<scf::IfOp, scf::WhileOp>(op)) {
        auto branch = dyn_cast<scf::IfOp>(op);
        if (llvm::Error error =
                branch ? print(branch, indent, text) : print(mlir::cast<scf::WhileOp>(op), indent, text))
          return error;
        continue;
      }
      std::string value = expression(&op);
      if (value.empty())
        return fail(ExitCode::internal, "no CUDA spelling of " + op.getName().getStringRef().str() + " on " +
                                            textOf(op.getResult(0).getType()));
      if (isa<arith::ConstantOp>(op)) {
        names[op.getResult(0)] = value;
        continue;
      }
      text += indent + "const " + declared(op.getResult(0)) + " = " + value + ";\n";
    }
    return llvm::Error::success();
  }
  /// The declaration of a value: its type and a new name.
  std::string declared(Value value) {
    std::string name = names[value] = "t" + std::to_string(count++);
    return cudaType(value.getType()) + " " + name;
  }
  llvm::Error print(scf::IfOp branch, const std::string &indent, std::string &text) {
    for (Value result : branch.getResults())
      text += indent + declared(result) + ";\n";
    text += indent + "if (" + names[branch.getCondition()] + ") {\n";
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      if (block == branch.elseBlock())
        text += indent + "} else {\n";
      if (llvm::Error error = statements(*block, indent + "  ", text))
        return error;
      for (auto [result, value] : llvm::zip_equal(branch.getResults(), block->getTerminator()->getOperands()))
        text += indent + "  " + names[result] + " = " + names[value] + ";\n";
    }
    text += indent + "}\n";
    return llvm::Error::success();
  }
  llvm::Error print(scf::WhileOp loop, const std::string &indent, std::string &text) {
    Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
    auto assign = [&](ValueRange to, ValueRange from) {
      for (auto [variable, value] : llvm::zip_equal(to, from))
        text += indent + "  " + names[variable] + " = " + names[value] + ";\n";
    };
    for (auto [variable, value] : llvm::zip_equal(before->getArguments(), loop.getInits()))
      text += indent + declared(variable) + " = " + names[value] + ";\n";
    for (auto [result, argument] : llvm::zip_equal(loop.getResults(), after->getArguments())) {
      text += indent + declared(result) + ";\n";
      names[argument] = names[result];
    }
    text += indent + "while (true) {\n";
    if (llvm::Error error = statements(*before, indent + "  ", text))
      return error;
    assign(loop.getResults(), loop.getConditionOp().getArgs());
    text += indent + "  if (!" + names[loop.getConditionOp().getCondition()] + ")\n" + indent + "    break;\n";
    if (llvm::Error error = statements(*after, indent + "  ", text))
      return error;
    assign(before->getArguments(), loop.getYieldOp().getOperands());
    text += indent + "}\n";
    return llvm::Error::success();
  }

  std::string arg(Operation *op, unsigned i) { return names[op->getOperand(i)]; }
  std::string infix(Operation *op, const char *symbol) { return arg(op, 0) + " " + symbol + " " + arg(op, 1); }
  std::string call(Operation *op, llvm::StringRef function) {
    std::string text = (function + "(").str();
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      text += (i ? ", " : "") + arg(op, i);
    return text + ")";
  }
  static bool isDouble(Operation *op) { return getElementTypeOrSelf(op->getOperand(0)).isF64(); }
  std::string math(Operation *op, llvm::StringRef function) {
    return call(op, isDouble(op) ? function.str() : (function + "f").str());
  }
  static std::string unsignedOf(Type type) {
    return type.isInteger(1)
               ? "bool"
               : cudaType(IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth(), IntegerType::Unsigned));
  }
  /// An operation modulo 2^width, done on unsigned numbers, since signed overflow is undefined in C++.
  std::string wrapping(Operation *op, const char *symbol) {
    Type type = op->getResult(0).getType();
    if (type.isInteger(1))
      return formatv("({0} {1} {2}) & 1", arg(op, 0), symbol, arg(op, 1)).str();
    // C++ promotes shorter types to int, which could overflow.
    std::string u = type.getIntOrFloatBitWidth() < 32 ? "unsigned" : unsignedOf(type);
    return castTo(cudaType(type), castTo(u, arg(op, 0)) + " " + symbol + " " + castTo(u, arg(op, 1)));
  }
  std::string onUnsigned(Operation *op, const char *symbol) {
    std::string u = unsignedOf(op->getOperand(0).getType());
    return castTo(u, arg(op, 0)) + " " + symbol + " " + castTo(u, arg(op, 1));
  }
  /// The operand that is the larger or the smaller, read as unsigned numbers.
  std::string chosen(Operation *op, const char *symbol) {
    return onUnsigned(op, symbol) + " ? " + arg(op, 0) + " : " + arg(op, 1);
  }
  std::string cast(Operation *op, const std::string &value) {
    return castTo(cudaType(op->getResult(0).getType()), value);
  }

  /// A 16-bit float as the float that it is.
  std::string wide(Operation *op, unsigned i) {
    Type type = op->getOperand(i).getType();
    return type.isF16()    ? "__half2float(" + arg(op, i) + ")"
           : type.isBF16() ? "__bfloat162float(" + arg(op, i) + ")"
                           : arg(op, i);
  }

  std::string compare(arith::CmpFOp op) {
    std::string a = wide(op, 0), b = wide(op, 1);
    auto text = [&](const char *format) { return formatv(format, a, b).str(); };
    using P = arith::CmpFPredicate;
    switch (op.getPredicate()) {
    case P::AlwaysFalse:
      return "false";
    case P::AlwaysTrue:
      return "true";
    case P::OEQ:
      return text("{0} == {1}");
    case P::OGT:
      return text("{0} > {1}");
    case P::OGE:
      return text("{0} >= {1}");
    case P::OLT:
      return text("{0} < {1}");
    case P::OLE:
      return text("{0} <= {1}");
    case P::ONE:
      return text("{0} < {1} || {0} > {1}");
    case P::ORD:
      return text("{0} == {0} && {1} == {1}");
    case P::UEQ:
      return text("!({0} < {1} || {0} > {1})");
    case P::UGT:
      return text("!({0} <= {1})");
    case P::UGE:
      return text("!({0} < {1})");
    case P::ULT:
      return text("!({0} >= {1})");
    case P::ULE:
      return text("!({0} > {1})");
    case P::UNE:
      return text("{0} != {1}");
    case P::UNO:
      return text("{0} != {0} || {1} != {1}");
    }
    return "";
  }
  std::string compare(arith::CmpIOp op) {
    using P = arith::CmpIPredicate;
    switch (op.getPredicate()) {
    case P::eq:
      return infix(op, "==");
    case P::ne:
      return infix(op, "!=");
    case P::slt:
      return infix(op, "<");
    case P::sle:
      return infix(op, "<=");
    case P::sgt:
      return infix(op, ">");
    case P::sge:
      return infix(op, ">=");
    case P::ult:
      return onUnsigned(op, "<");
    case P::ule:
      return onUnsigned(op, "<=");
    case P::ugt:
      return onUnsigned(op, ">");
    case P::uge:
      return onUnsigned(op, ">=");
    }
    return "";
  }
  std::string bitcast(Operation *op) {
    Type to = op->getResult(0).getType();
    bool toFloat = isa<FloatType>(to), isWide = to.getIntOrFloatBitWidth() == 64;
    if (isa<FloatType>(op->getOperand(0).getType()) == toFloat)
      return arg(op, 0);
    if (to.getIntOrFloatBitWidth() < 32)
      return toFloat ? formatv("{0}{{static_cast<unsigned short>({1})}", cudaType(to), arg(op, 0)).str()
                     : formatv("static_cast<short>({0}.bits)", arg(op, 0)).str();
    return call(op, toFloat ? (isWide ? "__longlong_as_double" : "__int_as_float")
                            : (isWide ? "__double_as_longlong" : "__float_as_int"));
  }
  std::string narrow(arith::TruncFOp op) {
    Type from = op.getIn().getType(), to = op.getType();
    if (to.isF32())
      return call(op, "__double2float_rn");
    return from.isF32() ? call(op, to.isF16() ? "__float2half_rn" : "__float2bfloat16_rn") : "";
  }
  std::string widen(arith::ExtFOp op) { return op.getType().isF64() ? "double(" + wide(op, 0) + ")" : wide(op, 0); }
  std::string fromUnsigned(Operation *op) {
    return cast(op, castTo(unsignedOf(op->getOperand(0).getType()), arg(op, 0)));
  }

  std::string expression(Operation *op) {
    if (StringRef name = approximation(op, precision); !name.empty())
      return call(op, name);
    return llvm::TypeSwitch<Operation *, std::string>(op)
        .Case([&](arith::ConstantOp o) { return cudaConstant(o.getValue()); })
        .Case<arith::AddFOp>([&](auto) { return infix(op, "+"); })
        .Case<arith::SubFOp>([&](auto) { return infix(op, "-"); })
        .Case<arith::MulFOp>([&](auto) { return infix(op, "*"); })
        .Case<arith::DivFOp>([&](auto) { return infix(op, "/"); })
        .Case<arith::NegFOp>([&](auto) { return "-" + arg(op, 0); })
        .Case<arith::MaximumFOp>([&](auto) { return call(op, "maximum"); })
        .Case<arith::MinimumFOp>([&](auto) { return call(op, "minimum"); })
        .Case<math::FmaOp>([&](auto) { return isDouble(op) ? call(op, "__fma_rn") : call(op, "__fmaf_rn"); })
        .Case<math::SqrtOp>([&](auto) { return call(op, isDouble(op) ? "__dsqrt_rn" : "__fsqrt_rn"); })
        .Case<math::AbsFOp>([&](auto) { return math(op, "fabs"); })
        .Case<math::CopySignOp>([&](auto) { return math(op, "copysign"); })
        .Case<math::RoundEvenOp>([&](auto) { return math(op, "rint"); })
        .Case<math::FloorOp>([&](auto) { return math(op, "floor"); })
        .Case<math::CeilOp>([&](auto) { return math(op, "ceil"); })
        .Case<math::TruncOp>([&](auto) { return math(op, "trunc"); })
        .Case<math::AbsIOp>([&](auto) {
          Type type = op->getResult(0).getType();
          return arg(op, 0) + " < 0 ? " + castTo(cudaType(type), "-" + castTo(unsignedOf(type), arg(op, 0))) + " : " +
                 arg(op, 0);
        })
        .Case([&](arith::CmpFOp o) { return compare(o); })
        .Case([&](arith::CmpIOp o) { return compare(o); })
        .Case<arith::SelectOp>([&](auto) { return arg(op, 0) + " ? " + arg(op, 1) + " : " + arg(op, 2); })
        .Case<arith::AddIOp>([&](auto) { return wrapping(op, "+"); })
        .Case<arith::SubIOp>([&](auto) { return wrapping(op, "-"); })
        .Case<arith::MulIOp>([&](auto) { return wrapping(op, "*"); })
        .Case<arith::AndIOp>([&](auto) { return infix(op, "&"); })
        .Case<arith::OrIOp>([&](auto) { return infix(op, "|"); })
        .Case<arith::XOrIOp>([&](auto) { return infix(op, "^"); })
        .Case<arith::ShLIOp>([&](auto) { return wrapping(op, "<<"); })
        .Case<arith::ShRUIOp>([&](auto) { return cast(op, onUnsigned(op, ">>")); })
        .Case<arith::ShRSIOp>([&](auto) { return infix(op, ">>"); })
        .Case<arith::DivSIOp>([&](auto) { return infix(op, "/"); })
        .Case<arith::RemSIOp>([&](auto) { return infix(op, "%"); })
        .Case<arith::DivUIOp>([&](auto) { return cast(op, onUnsigned(op, "/")); })
        .Case<arith::RemUIOp>([&](auto) { return cast(op, onUnsigned(op, "%")); })
        .Case<arith::MaxSIOp>([&](auto) { return call(op, "max"); })
        .Case<arith::MinSIOp>([&](auto) { return call(op, "min"); })
        .Case<arith::MaxUIOp>([&](auto) { return chosen(op, ">"); })
        .Case<arith::MinUIOp>([&](auto) { return chosen(op, "<"); })
        .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto) {
          Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
          if (to.isInteger(1))
            return "(" + arg(op, 0) + " & 1) != 0";
          return from.isInteger(1) ? cast(op, "-int(" + arg(op, 0) + ")") : cast(op, arg(op, 0));
        })
        .Case<arith::ExtUIOp, arith::UIToFPOp>([&](auto) { return fromUnsigned(op); })
        .Case<arith::SIToFPOp>([&](auto) {
          std::string value = op->getOperand(0).getType().isInteger(1) ? "-int(" + arg(op, 0) + ")" : arg(op, 0);
          return cast(op, value);
        })
        .Case<arith::FPToSIOp>(
            [&](auto) { return "truncated<" + cudaType(op->getResult(0).getType()) + ">(" + wide(op, 0) + ")"; })
        .Case([&](arith::TruncFOp o) { return narrow(o); })
        .Case([&](arith::ExtFOp o) { return widen(o); })
        .Case<arith::BitcastOp>([&](auto) { return bitcast(op); })
        .Default([](Operation *) { return std::string(); });
  }
};

} // namespace

OwningOpRef<ModuleOp> scalarFunction(MapOp map, Precision precision) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(map.getLoc());
  OpBuilder builder(module->getBodyRegion());
  Block &body = map.getBody().front();
  auto function = func::FuncOp::create(
      builder, map.getLoc(), "f",
      builder.getFunctionType(body.getArgumentTypes(), scalarType(map.getResult().getType().getElementType())));
  IRMapping mapping;
  Block *entry = function.addEntryBlock();
  mapping.map(body.getArguments(), entry->getArguments());
  builder.setInsertionPointToStart(entry);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  func::ReturnOp::create(builder, map.getLoc(), mapping.lookup(body.getTerminator()->getOperand(0)));
  expandMath(*module, [&](Operation *op) { return !approximation(op, precision).empty(); });
  return module;
}

std::string CudaFunction::text(StringRef name) const {
  return formatv("__device__ __forceinline__ {0} {1}({2}) {{\n{3}}\n", result, name, parameters, body).str();
}

llvm::Expected<CudaFunction> cudaFunction(MapOp map, Precision precision) {
  OwningOpRef<ModuleOp> module = scalarFunction(map, precision);
  Block &entry = module->lookupSymbol<func::FuncOp>("f").front();
  CudaFunction function;
  function.result = cudaType(scalarType(map.getResult().getType().getElementType()));
  Printer printer(precision);
  for (BlockArgument argument : entry.getArguments()) {
    std::string own = "a" + std::to_string(argument.getArgNumber());
    printer.names[argument] = own;
    function.parameters += (function.parameters.empty() ? "" : ", ") + cudaType(argument.getType()) + " " + own;
  }
  llvm::Expected<std::string> body = printer.print(entry);
  if (!body)
    return body.takeError();
  function.body = std::move(*body);
  return function;
}

} // namespace tutti
