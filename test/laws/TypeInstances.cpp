// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Examples of the ops that are not pointwise in every element type that the other tables leave out.
#include "Instances.h"

namespace tutti::laws {

void typed(std::vector<Instance> &all) {
  auto add = [&](const std::string &op, const std::string &arguments, const std::string &text,
                 const char *refused = "") {
    all.push_back({"tutti." + op, arguments, "tutti." + op + " " + text, refused});
  };
  auto of = [](const char *dims, const std::string &e) { return "tensor<" + std::string(dims) + "x" + e + ">"; };
  const char *const numbers[] = {"f64", "f16", "bf16", "i8", "i16", "i64", "ui8", "ui16", "ui32", "ui64"};

  for (std::string e : numbers) {
    std::string x = of("3x20", e), u = of("3x9", e), i = "tensor<3x9xi64>";
    for (std::string kind : {"set", "add", "mul", "min", "max"})
      add("scatter", "%a: " + x + ", %i: " + i + ", %u: " + u, kind + " %a at %i with %u : " + x + ", " + i + ", " + u);
    add("select", "%c: tensor<3x9xi1>, %a: " + u + ", %b: " + u, "%c, %a, %b : tensor<3x9xi1>, " + u + ", " + u);
    for (std::string way : {"sum %a", "prod %a reverse", "sum %a step 4 exclusive"})
      add("scan", "%a: " + x, way + " : " + x);
    add("top", "%a: " + x, "7 of %a : " + x);
  }
  for (std::string e : {"ui16", "i32", "ui32"})
    for (std::string axis : {"0", "1"}) {
      std::string x = of("3x19", e);
      for (std::string kind : {"sum", "prod", "max", "min"})
        add("reduce", "%a: " + x, kind + " %a [" + axis + "] : " + x);
      for (std::string kind : {"max", "min"})
        add("arg", "%a: " + x, kind + " %a axis " + axis + " : " + x);
    }
  for (std::string axis : {"0", "1"})
    for (std::string e : {"f64", "f16", "bf16"})
      add("reduce", "%a: " + of("3x19", e), "mean %a [" + axis + "] : " + of("3x19", e));
  for (std::string e : {"i8", "i16", "i64", "ui8", "ui16", "ui32", "ui64"})
    add("not", "%a: " + of("19", e), "%a : " + of("19", e));
  for (std::string e : {"i8", "i16", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f64"})
    for (std::string other : {"i16", "f32"}) {
      add("cast", "%a: " + of("19", e), "%a : " + of("19", e) + " -> " + of("19", other));
      add("cast", "%a: " + of("19", other), "%a : " + of("19", other) + " -> " + of("19", e));
    }

  // One column, narrower than what it is computed in.
  auto batched = [](const char *dims, const std::string &e) {
    return "tensor<?x" + std::string(dims) + "x" + e + ", #tutti.sizes<batch>>";
  };
  for (auto [from, to] : {std::pair("i64", "i32"), std::pair("i64", "i8"), std::pair("f32", "i16"),
                          std::pair("f32", "bf16"), std::pair("f32", "f16")})
    add("cast", "%a: " + batched("1", from), "%a : " + batched("1", from) + " -> " + batched("1", to));
  for (std::string e : {"bf16", "f16", "i8"}) {
    std::string x = batched("20", e), w = of("20x1", e);
    add("contract", "%a: " + x + ", %b: " + w, "%a, %b \"bk,kn->bn\" : " + x + ", " + w);
    add("reduce", "%a: " + x, "sum %a [1] : " + x);
  }

  // Elements that only move.
  for (std::string e : {"i1", "f64", "f16", "bf16", "i8", "i16", "i32", "ui8", "ui16", "ui32", "ui64"}) {
    std::string x = of("4x20", e);
    add("reshape", "%a: " + x, "%a : " + x + " -> " + of("5x16", e));
    add("broadcast", "%a: " + of("20", e), "%a : " + of("20", e) + " -> " + x);
    add("transpose", "%a: " + x, "%a [1, 0] : " + x);
    add("slice", "%a: " + x, "%a from [3, 1] size [4, 9] step [-1, 2] : " + x);
    add("concat", "%a: " + x + ", %b: " + of("4x3", e), "%a, %b axis 1 : " + x + ", " + of("4x3", e));
    add("gather", "%a: " + x + ", %i: tensor<3xi64>", "%a at %i axis 0 : " + x + ", tensor<3xi64>");
    add("gather", "%a: " + x + ", %i: tensor<4x17xi32>", "%a at %i axis 1 batch 1 : " + x + ", tensor<4x17xi32>");
    add("replicate", "%a: " + of("20", e), "%a : " + of("20", e) + " -> " + x);
  }
  // What rows read transposed: few rows or columns, some more than vectors have lanes, rows that lie apart in the
  // result.
  for (std::string e : {"f32", "f64", "bf16", "i1"}) {
    auto transposed = [&](const char *dims, const char *order) {
      add("transpose", "%a: " + batched(dims, e), "%a " + (order + (" : " + batched(dims, e))));
    };
    for (const char *dims : {"17x35", "3x20", "9x20", "20x3", "20x9"})
      transposed(dims, "[0, 2, 1]");
    transposed("2x20x5", "[0, 3, 1, 2]");
    transposed("18x3x19", "[0, 3, 2, 1]");
    // Rows of few columns at places that are told: alone, in pairs, blocks of any length.
    transposed("5x7x2", "[0, 2, 1, 3]");
    transposed("3x2x5x3", "[0, 2, 3, 1, 4]");
    transposed("4x3x4", "[0, 2, 1, 3]");
  }
  // More columns than are copied at a time, also where a call says how many.
  for (const char *dims : {"150x83", "83x150", "65x70"})
    add("transpose", "%a: " + of(dims, "f32"), "%a [1, 0] : " + of(dims, "f32"));
  add("transpose", "%a: " + batched("20", "f32"), "%a [1, 0] : " + batched("20", "f32"));

  for (std::string e : {"f64", "f16", "bf16", "i8", "i16", "i64", "ui8", "ui16", "ui32", "ui64"}) {
    std::string x = of("4x3x2", e);
    for (std::string kind : {"var", "std", "min", "quantile"})
      add("head", "%a: " + x, kind + " %a " + (kind == "quantile" ? "at 0.25 : " : ": ") + x,
          "expected the member axis in front");
  }
}

} // namespace tutti::laws
