// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Examples of the pointwise ops: every op, every element type, every kind of broadcasting.
#include "Instances.h"

namespace tutti::laws {

static const char *const integers[] = {"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"};

void pointwise(std::vector<Instance> &all) {
  auto add = [&](const std::string &op, const std::string &arguments, const std::string &text) {
    all.push_back({"tutti." + op, arguments, "tutti." + op + " " + text, ""});
  };
  auto unary = [&](const std::string &op, const std::string &type) { add(op, "%a: " + type, "%a : " + type); };
  auto binary = [&](const std::string &op, const std::string &lhs, const std::string &rhs) {
    add(op, "%a: " + lhs + ", %b: " + rhs, "%a, %b : " + lhs + ", " + rhs);
  };
  // Broadcasting of every kind: neither, lhs, rhs, both, and a symbol.
  auto broadcast = [&](const std::string &op, const std::string &e) {
    binary(op, "tensor<2x3x" + e + ">", "tensor<2x3x" + e + ">");
    binary(op, "tensor<3x" + e + ">", "tensor<2x3x" + e + ">");
    binary(op, "tensor<?x3x" + e + ", #tutti.sizes<batch>>", "tensor<" + e + ">");
    binary(op, "tensor<2x1x3x" + e + ">", "tensor<4x1x" + e + ">");
  };
  auto typed = [&](const std::string &op, const std::string &e) {
    binary(op, "tensor<5x" + e + ">", "tensor<5x" + e + ">");
  };

  for (const char *op : {"neg", "abs", "sign", "relu"}) {
    unary(op, "tensor<2x3xf32>");
    for (const char *e : {"f64", "f16", "bf16"})
      unary(op, "tensor<5x" + std::string(e) + ">");
    for (const char *e : integers)
      unary(op, "tensor<4x" + std::string(e) + ">");
  }
  for (const char *op : {"sqrt",  "reciprocal", "exp",   "expm1",   "log",      "floor", "ceil", "round", "erf",
                         "sin",   "cos",        "tan",   "asin",    "acos",     "atan",  "sinh", "cosh",  "tanh",
                         "asinh", "acosh",      "atanh", "sigmoid", "softplus", "mish",  "gelu"}) {
    unary(op, "tensor<?x3xf32, #tutti.sizes<batch>>");
    for (const char *e : {"f64", "f16", "bf16"})
      unary(op, "tensor<5x" + std::string(e) + ">");
  }
  for (const char *e : {"i1", "i32", "ui8"})
    unary("not", "tensor<7x" + std::string(e) + ">");
  for (const char *op : {"add", "sub", "mul", "div", "rem", "pow", "min", "max", "equal", "greater", "greater_equal"}) {
    broadcast(op, "f32");
    broadcast(op, "i32");
    for (const char *e : {"f64", "f16", "bf16"})
      typed(op, e);
    for (const char *e : integers)
      if (std::string(e) != "i32")
        typed(op, e);
  }
  for (const char *op : {"and", "or", "xor"}) {
    broadcast(op, "i1");
    for (const char *e : integers)
      typed(op, e);
  }
  for (const char *op : {"equal", "greater", "greater_equal"})
    broadcast(op, "i1");
  for (const char *op : {"shift_left", "shift_right"}) {
    typed(op, "i1");
    for (const char *e : integers)
      typed(op, e);
  }
  add("select", "%c: tensor<2x1xi1>, %a: tensor<3xf32>, %b: tensor<2x3xf32>",
      "%c, %a, %b : tensor<2x1xi1>, tensor<3xf32>, tensor<2x3xf32>");
  add("select", "%c: tensor<i1>, %a: tensor<3xi64>, %b: tensor<i64>",
      "%c, %a, %b : tensor<i1>, tensor<3xi64>, tensor<i64>");
  for (const char *e : {"f16", "bf16", "ui8"}) {
    std::string x = "tensor<3x" + std::string(e) + ">";
    add("select", "%c: tensor<3xi1>, %a: " + x + ", %b: " + x, "%c, %a, %b : tensor<3xi1>, " + x + ", " + x);
  }
  // Few columns of rows that all share others: lanes of several rows, whose numbers come in pairs.
  for (const std::string e : {"f32", "i32", "ui32"})
    binary("add", "tensor<?x4x4x" + e + ", #tutti.sizes<batch>>", "tensor<4x4x" + e + ">");
  const char *const types[] = {"f32", "f64", "f16", "bf16", "i1", "i8", "i32", "i64", "ui8", "ui16", "ui32", "ui64"};
  for (const char *from : types)
    for (const char *to : types) {
      std::string x = "tensor<5x" + std::string(from) + ">";
      add("cast", "%a: " + x, "%a : " + x + " -> tensor<5x" + to + ">");
    }
}

} // namespace tutti::laws
