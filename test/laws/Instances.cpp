// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of the ops' examples. An op without one fails the test `EveryOp`.
#include "Instances.h"

#include "compiler/Compiler.h"
#include "dialects/tutti/Tutti.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace mlir;

namespace tutti::laws {

static std::vector<Instance> table() {
  std::vector<Instance> all;
  auto add = [&](const std::string &op, const std::string &arguments, const std::string &text,
                 const char *refused = "") {
    all.push_back({"tutti." + op, arguments, "tutti." + op + " " + text, refused});
  };
  pointwise(all);
  typed(all);
  add("contract", "%a: tensor<?x4xf32, #tutti.sizes<batch>>, %b: tensor<4x3xf32>",
      "%a, %b \"bk,kn->bn\" : tensor<?x4xf32, #tutti.sizes<batch>>, tensor<4x3xf32>");
  add("contract", "%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>",
      "%a, %b \"mbk,mkn->mbn\" : tensor<2x3x4xf32>, tensor<2x4x5xf32>");
  add("contract", "%a: tensor<2x3xf32>, %b: tensor<3x2xf32>", "%a, %b \"ij,ji->\" : tensor<2x3xf32>, tensor<3x2xf32>");
  add("contract", "%a: tensor<2xf32>, %b: tensor<3xf32>", "%a, %b \"i,j->ji\" : tensor<2xf32>, tensor<3xf32>");
  add("contract", "%a: tensor<2x3xi32>, %b: tensor<3xi32>", "%a, %b \"ij,j->i\" : tensor<2x3xi32>, tensor<3xi32>");
  // Products of two values: columns or terms side by side, sums of several chains, rows that share their columns in
  // runs of any length, or not at all.
  struct {
    const char *left, *right, *spec, *element = "f32";
  } products[] = {
      {"2x17x300", "2x300x35", "bsk,bkt->bst"},
      {"2x19x21", "2x37x21", "bsk,btk->bst"},
      {"2x2x32", "2x40x32", "bsk,btk->bst"},
      {"3x5", "3x5x131", "bk,bkt->bt"},
      {"3x5", "3x33x5", "bk,btk->bt"},
      {"7x5", "3x5x18", "nm,bmf->bnf"},
      {"2x3x5x4", "2x4x33", "sabk,skt->sabt"},
      {"2x5x19", "2x5x18", "bks,bkt->bst"},
      {"2x4x3x5", "2x17x5", "bshk,btk->bhst"},
      {"?x6", "20x6", "bk,nk->bn"},
      {"5x6", "?x6", "ik,bk->ib"},
      {"?x6", "?x6x3", "bk,bkn->bn"},
      {"?x3x6", "3x6x18", "bhk,hkn->bhn"},
      {"4x2x3x6", "2x6x1", "abck,bkn->abcn"},
      {"17x20", "1x20", "bk,nk->bn"},
      {"20", "20", "k,k->"},
      {"19x300", "300x21", "bk,kn->bn", "f64"},
      {"2x9x21", "2x37x21", "bsk,btk->bst", "f64"},
      {"3x5", "3x5x67", "bk,bkt->bt", "f64"},
      // Einsums that become products.
      {"?x12x9", "9x11x12", "bsc,cts->btc"},
      {"20x9", "?x20", "kn,bk->bn"},
      {"2x6x4x5", "2x6x4x9", "bijk,bijl->bkl"},
      {"2x6x50x5", "2x50x6x9", "bijk,bjil->bkl"},
      {"2x6x4x5", "2x4x6x9", "bijk,bjil->bkl", "f64"},
  };
  for (auto [left, right, spec, element] : products) {
    auto type = [&](StringRef sizes) {
      return ("tensor<" + sizes + "x" + element + (sizes.contains('?') ? ", #tutti.sizes<batch>>" : ">")).str();
    };
    std::string a = type(left), b = type(right);
    add("contract", "%a: " + a + ", %b: " + b, "%a, %b \"" + std::string(spec) + "\" : " + a + ", " + b);
  }

  for (const char *e : {"f64", "f16", "bf16", "i8", "i16", "i64", "ui8", "ui16", "ui32", "ui64"}) {
    std::string t = e;
    all.push_back({"tutti.contract", "%a: tensor<3x20x" + t + ">, %b: tensor<20x5x" + t + ">",
                   "tutti.contract %a, %b \"bk,kn->bn\" : tensor<3x20x" + t + ">, tensor<20x5x" + t + ">", ""});
    for (const char *kind : {"max", "vote", "mean"})
      all.push_back({"tutti.head", "%a: tensor<4x3x2x" + t + ">",
                     std::string("tutti.head ") + kind + " %a : tensor<4x3x2x" + t + ">",
                     "expected the member axis in front"});
  }

  for (const char *kind : {"sum", "mean", "max", "min", "prod"}) {
    std::string k = kind;
    add("reduce", "%a: tensor<2x?x3xf32, #tutti.sizes<batch>>", k + " %a [2] : tensor<2x?x3xf32, #tutti.sizes<batch>>");
    add("reduce", "%a: tensor<2x3x4xf32>", k + " %a [0, 2] : tensor<2x3x4xf32>");
    if (k != "mean")
      add("reduce", "%a: tensor<2x3xi32>", k + " %a [1] : tensor<2x3xi32>");
  }
  add("reduce", "%a: tensor<?x3xf32, #tutti.sizes<batch>>", "max %a [0] : tensor<?x3xf32, #tutti.sizes<batch>>",
      "not parallel");
  for (const char *kind : {"sum", "prod", "max", "min"}) {
    add("reduce", "%a: tensor<2x0xf32>", kind + std::string(" %a [1] : tensor<2x0xf32>"));
    add("reduce", "%a: tensor<0x2xi32>", kind + std::string(" %a [0] : tensor<0x2xi32>"));
    add("reduce", "%a: tensor<0x2xui16>", kind + std::string(" %a [0] : tensor<0x2xui16>"));
  }
  // Integers and 16-bit floats of every width, along a row and across rows.
  for (const char *element : {"i8", "i16", "i64", "ui8", "ui32", "ui64", "f16", "bf16", "f64"})
    for (const char *axis : {"0", "1"}) {
      std::string x = "tensor<3x19x" + std::string(element) + ">";
      for (const char *kind : {"sum", "prod", "max", "min"})
        add("reduce", "%a: " + x, std::string(kind) + " %a [" + axis + "] : " + x);
      for (const char *kind : {"max", "min"})
        add("arg", "%a: " + x, std::string(kind) + " %a axis " + axis + " : " + x);
    }
  for (const char *kind : {"max", "min"})
    for (const char *length : {"1", "3", "16", "37"})
      for (const char *ties : {"", " last"}) {
        std::string k = kind, row = "tensor<?x" + std::string(length) + "xf32, #tutti.sizes<batch>>",
                    column = "tensor<2x" + std::string(length) + "x3xi32>";
        add("arg", "%a: " + row, k + " %a axis 1" + ties + " : " + row);
        add("arg", "%a: " + column, k + " %a axis 1" + ties + " : " + column);
      }
  add("arg", "%a: tensor<?x3xf32, #tutti.sizes<batch>>", "max %a axis 0 : tensor<?x3xf32, #tutti.sizes<batch>>",
      "not parallel");
  for (const char *kind : {"sum", "prod"})
    for (const char *way : {"", " exclusive", " reverse", " exclusive reverse"})
      for (const char *length : {"1", "7", "16", "35"}) {
        std::string k = kind, x = "tensor<?x" + std::string(length) + "xf32, #tutti.sizes<batch>>";
        add("scan", "%a: " + x, k + " %a" + way + " : " + x);
      }
  for (const char *element : {"i8", "i32", "i64", "ui8", "ui64", "f16", "bf16", "f64"}) {
    std::string x = "tensor<2x19x" + std::string(element) + ">", of = " of %a : " + x, least = " of %a smallest : " + x;
    add("scan", "%a: " + x, "sum %a : " + x);
    add("top", "%a: " + x, "5" + of);
    add("top", "%a: " + x, "19" + least);
  }
  for (const char *way : {"", " exclusive", " reverse", " exclusive reverse"})
    for (const char *step : {"1", "3", "7", "21"}) {
      std::string x = "tensor<?x21xf32, #tutti.sizes<batch>>", y = "tensor<2x84xi32>",
                  s = std::string(" step ") + step + way + " : ";
      add("scan", "%a: " + x, "sum %a" + s + x);
      add("scan", "%a: " + y, "prod %a" + s + y);
    }
  add("scan", "%a: tensor<2x246xf32>", "sum %a step 82 : tensor<2x246xf32>");
  add("scan", "%a: tensor<?xf32, #tutti.sizes<batch>>", "sum %a : tensor<?xf32, #tutti.sizes<batch>>", "not parallel");
  for (auto [count, length] :
       {std::pair(1, 1), std::pair(1, 40), std::pair(3, 5), std::pair(5, 33), std::pair(16, 16), std::pair(17, 50)})
    for (const char *which : {"", " smallest"}) {
      std::string x = "tensor<?x" + std::to_string(length) + "xf32, #tutti.sizes<batch>>";
      add("top", "%a: " + x, std::to_string(count) + " of %a" + which + " : " + x);
    }

  add("reshape", "%a: tensor<?x4x6xf32, #tutti.sizes<batch>>",
      "%a : tensor<?x4x6xf32, #tutti.sizes<batch>> -> tensor<?x8x3xf32, #tutti.sizes<batch>>");
  add("reshape", "%a: tensor<?x4x6xf32, #tutti.sizes<batch>>",
      "%a : tensor<?x4x6xf32, #tutti.sizes<batch>> -> tensor<?x6xf32, #tutti.sizes<4*batch>>");
  add("reshape", "%a: tensor<?xf32, #tutti.sizes<6*batch>>",
      "%a : tensor<?xf32, #tutti.sizes<6*batch>> -> tensor<?x1x2x3xf32, #tutti.sizes<batch>>");
  add("reshape", "%a: tensor<2x?x3xf32, #tutti.sizes<batch>>",
      "%a : tensor<2x?x3xf32, #tutti.sizes<batch>> -> tensor<2x1x?xf32, #tutti.sizes<3*batch>>");
  add("reshape", "%a: tensor<4x6xf32>", "%a : tensor<4x6xf32> -> tensor<6x4xf32>");
  add("reshape", "%a: tensor<1x1xf32>", "%a : tensor<1x1xf32> -> tensor<f32>");
  add("broadcast", "%a: tensor<3x1xf32>", "%a : tensor<3x1xf32> -> tensor<2x3x4xf32>");
  add("broadcast", "%a: tensor<f32>", "%a : tensor<f32> -> tensor<?x2xf32, #tutti.sizes<batch>>");
  add("transpose", "%a: tensor<2x?x4xf32, #tutti.sizes<batch>>",
      "%a [1, 2, 0] : tensor<2x?x4xf32, #tutti.sizes<batch>>");
  add("transpose", "%a: tensor<2x3x4x5xi64>", "%a [3, 0, 2, 1] : tensor<2x3x4x5xi64>");
  add("slice", "%a: tensor<?x7xf32, #tutti.sizes<batch>>",
      "%a from [0, 1] size [-1, 3] step [1, 2] : tensor<?x7xf32, #tutti.sizes<batch>>");
  add("slice", "%a: tensor<4x5xf32>", "%a from [3, 4] size [2, 5] step [-2, -1] : tensor<4x5xf32>");
  add("slice", "%a: tensor<?x90xf32, #tutti.sizes<batch>>",
      "%a from [0, 85] size [-1, 83] step [1, -1] : tensor<?x90xf32, #tutti.sizes<batch>>");
  for (const char *part : {"1] size [-1, 60] step [1, 2", "0] size [-1, 41] step [1, 3", "3] size [-1, 29] step [1, 4",
                           "2] size [-1, 18] step [1, 5"})
    add("slice", "%a: tensor<?x121xf32, #tutti.sizes<batch>>",
        "%a from [0, " + std::string(part) + "] : tensor<?x121xf32, #tutti.sizes<batch>>");
  for (const char *columns : {"1", "19"}) { // operands along an axis of rows
    std::string a = "tensor<?x1x" + std::string(columns) + "xf32, #tutti.sizes<batch>>",
                c = "tensor<?x3x" + std::string(columns) + "xf32, #tutti.sizes<batch>>";
    add("concat", "%a: " + a + ", %b: " + c + ", %c: " + a,
        "%a, %b, %c, %b, %a axis 1 : " + a + ", " + c + ", " + a + ", " + c + ", " + a);
  }
  add("concat",
      "%a: tensor<?x3xf32, #tutti.sizes<batch>>, %b: tensor<?x1xf32, #tutti.sizes<batch>>, %c: tensor<?x2xf32, "
      "#tutti.sizes<batch>>",
      "%a, %b, %c axis 1 : tensor<?x3xf32, #tutti.sizes<batch>>, tensor<?x1xf32, #tutti.sizes<batch>>, tensor<?x2xf32, "
      "#tutti.sizes<batch>>");
  add("concat", "%a: tensor<?x2xf32, #tutti.sizes<batch>>",
      "%a, %a axis 0 : tensor<?x2xf32, #tutti.sizes<batch>>, tensor<?x2xf32, #tutti.sizes<batch>>", "not parallel");

  // Random indices are negative and out of range too.
  add("gather", "%a: tensor<5x3xf32>, %i: tensor<2x2xi64>", "%a at %i axis 0 : tensor<5x3xf32>, tensor<2x2xi64>");
  add("gather", "%a: tensor<2x5x3xf32>, %i: tensor<4xi32>", "%a at %i axis 1 : tensor<2x5x3xf32>, tensor<4xi32>");
  add("gather", "%a: tensor<3x4xf32>, %i: tensor<i64>", "%a at %i axis 1 : tensor<3x4xf32>, tensor<i64>");
  add("gather", "%a: tensor<2x3x5xf32>, %i: tensor<2x4xi64>",
      "%a at %i axis 2 batch 1 : tensor<2x3x5xf32>, tensor<2x4xi64>");

  // With a margin and without one, apart, with gaps; of few channels and of many; along one axis and two.
  add("windows", "%a: tensor<?x20x2xf32, #tutti.sizes<batch>>",
      "%a of [3, 2] in [4, 5] count [2, 5] step [2, 1] gap [1, 2] before [1, 1] : tensor<?x20x2xf32, "
      "#tutti.sizes<batch>>");
  add("windows", "%a: tensor<2x3x7x5xf32>",
      "%a of [3] in [7] count [5] step [1] gap [1] before [0] : tensor<2x3x7x5xf32>");
  add("windows", "%a: tensor<3x6xi32>", "%a of [1] in [3] count [5] step [1] gap [1] before [1] : tensor<3x6xi32>");
  // What goes on outside, further than the image is long.
  for (const char *outside : {"edge", "mirror", "wrap"})
    add("windows", "%a: tensor<?x8x2xf32, #tutti.sizes<batch>>",
        std::string("%a of [2, 1] in [2, 4] count [4, 9] step [1, 1] gap [2, 1] before [2, 3] outside ") + outside +
            " : tensor<?x8x2xf32, #tutti.sizes<batch>>");

  // Many of so few places are met more than once.
  for (const char *kind : {"set", "add", "mul", "min", "max"})
    for (const char *element : {"f32", "i32"}) {
      std::string x = "tensor<?x5x" + std::string(element) + ", #tutti.sizes<batch>>",
                  i = "tensor<?x3xi64, #tutti.sizes<batch>>",
                  u = "tensor<?x3x" + std::string(element) + ", #tutti.sizes<batch>>";
      add("scatter", "%a: " + x + ", %i: " + i + ", %u: " + u,
          kind + (" %a at %i with %u : " + x) + ", " + i + ", " + u);
    }
  add("scatter", "%a: tensor<37xf64>, %i: tensor<40xi32>, %u: tensor<40xf64>",
      "add %a at %i with %u : tensor<37xf64>, tensor<40xi32>, tensor<40xf64>");
  add("scatter", "%a: tensor<2x3x4xi1>, %i: tensor<2x3x1xi32>, %u: tensor<2x3x1xi1>",
      "set %a at %i with %u : tensor<2x3x4xi1>, tensor<2x3x1xi32>, tensor<2x3x1xi1>");
  add("scatter", "%a: tensor<3x20xf16>, %i: tensor<3x9xi64>, %u: tensor<3x9xf16>",
      "add %a at %i with %u : tensor<3x20xf16>, tensor<3x9xi64>, tensor<3x9xf16>");
  add("scatter", "%a: tensor<3x20xbf16>, %i: tensor<3x9xi64>, %u: tensor<3x9xbf16>",
      "max %a at %i with %u : tensor<3x20xbf16>, tensor<3x9xi64>, tensor<3x9xbf16>");
  for (const char *kind : {"set", "add"}) {
    std::string k = kind, x = "tensor<?x60xf32, #tutti.sizes<batch>>", u = "tensor<?x40xf32, #tutti.sizes<batch>>",
                i = "tensor<?x2xi64, #tutti.sizes<batch>>", own = "tensor<?x40xi64, #tutti.sizes<batch>>";
    add("scatter", "%a: " + x + ", %i: " + i + ", %u: " + u,
        k + " %a at %i with %u width 20 : " + x + ", " + i + ", " + u);
    add("scatter", "%a: " + x + ", %i: " + own + ", %u: " + u,
        k + " %a at %i with %u width 20 : " + x + ", " + own + ", " + u);
  }
  add("scatter", "%a: tensor<12xf16>, %i: tensor<3xi32>, %u: tensor<9xf16>",
      "mul %a at %i with %u width 3 : tensor<12xf16>, tensor<3xi32>, tensor<9xf16>");
  add("scatter", "%a: tensor<3x?xf32, #tutti.sizes<batch>>, %i: tensor<3x2xi64>, %u: tensor<3x2xf32>",
      "set %a at %i with %u : tensor<3x?xf32, #tutti.sizes<batch>>, tensor<3x2xi64>, tensor<3x2xf32>", "not parallel");

  add("constant", "", "dense<[1.5, 2.5]> : tensor<2xf32>");
  add("get", "", "@p : tensor<2x3xf32>");
  // Heads are compiled where the pipeline puts them, over the members: see Heads.cpp.
  const char *overMembers = "expected the member axis in front";
  for (const char *kind : {"mean", "var", "std", "min", "max"}) {
    std::string k = kind;
    add("head", "%a: tensor<4x?x3xf32, #tutti.sizes<batch>>", k + " %a : tensor<4x?x3xf32, #tutti.sizes<batch>>",
        overMembers);
    add("head", "%a: tensor<4x3xi32>", k + " %a : tensor<4x3xi32>", overMembers);
  }
  for (const char *q : {"0.0", "0.25", "0.5", "1.0"})
    add("head", "%a: tensor<4x3xf32>", "quantile %a at " + std::string(q) + " : tensor<4x3xf32>", overMembers);
  add("head", "%a: tensor<4x2x3xf32>", "vote %a : tensor<4x2x3xf32>", overMembers);
  add("head", "%a: tensor<9x2xi32>", "vote %a : tensor<9x2xi32>", overMembers);
  add("replicate", "%a: tensor<3xf32>", "%a : tensor<3xf32> -> tensor<4x3xf32>");
  add("replicate", "%a: tensor<?x3xf32, #tutti.sizes<batch>>",
      "%a : tensor<?x3xf32, #tutti.sizes<batch>> -> tensor<4x?x3xf32, #tutti.sizes<batch>>");
  return all;
}

const std::vector<Instance> &instances() {
  static const std::vector<Instance> all = table();
  return all;
}

MLIRContext &context() {
  static MLIRContext *const context = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    DialectRegistry registry;
    registerDialects(registry);
    made->appendDialectRegistry(registry);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

llvm::StringMap<int64_t> sizes() { return {{"batch", 5}}; }

Subject parse(const Instance &instance) {
  std::string text = "tutti.param per_member @p : tensor<2x3xf32>\nfunc.func @main(" + instance.arguments +
                     ") { %r = " + instance.text + "\n return }";
  Subject subject;
  subject.module = parseSourceString<ModuleOp>(text, &context());
  if (!subject.module) {
    ADD_FAILURE() << "does not parse: " << text;
    return subject;
  }
  subject.main = subject.module->lookupSymbol<func::FuncOp>("main");
  subject.op = &subject.main.getBody().front().front();
  EXPECT_EQ(subject.op->getName().getStringRef().str(), instance.op);
  subject.main.getBody().front().getTerminator()->setOperands(subject.op->getResults());
  subject.main.setType(FunctionType::get(&context(), subject.main.getArgumentTypes(), subject.op->getResultTypes()));
  return subject;
}

HostTensor random(std::mt19937 &generator, Type element, ArrayRef<int64_t> dims) {
  HostTensor tensor = HostTensor::zeros(element, dims);
  for (double &value : tensor.floats) {
    value = (static_cast<int>(generator() % 193) - 96) / 32.0;
    if (generator() % 8 == 0)
      value = generator() % 2 ? 0.0 : -0.0;
  }
  for (int64_t &value : tensor.ints)
    value = wrapped(static_cast<int64_t>(generator() % 15) - 7, element);
  return tensor;
}

HostTensor random(std::mt19937 &generator, RankedTensorType type) {
  EvaluateContext context;
  context.sizes = sizes();
  return random(generator, type.getElementType(), context.dimsOf(type));
}

HostTensor stack(ArrayRef<HostTensor> tensors) {
  HostTensor all{tensors[0].element, tensors[0].dims, {}, {}};
  all.dims.insert(all.dims.begin(), tensors.size());
  for (const HostTensor &tensor : tensors) {
    all.floats.insert(all.floats.end(), tensor.floats.begin(), tensor.floats.end());
    all.ints.insert(all.ints.end(), tensor.ints.begin(), tensor.ints.end());
  }
  return all;
}

HostTensor unstack(const HostTensor &tensor, int64_t index) {
  HostTensor one = HostTensor::zeros(tensor.element, ArrayRef(tensor.dims).drop_front());
  int64_t count = one.count();
  if (one.isFloat())
    std::copy_n(tensor.floats.begin() + index * count, count, one.floats.begin());
  else
    std::copy_n(tensor.ints.begin() + index * count, count, one.ints.begin());
  return one;
}

std::string difference(const HostTensor &a, const HostTensor &b) {
  if (a.element != b.element || a.dims != b.dims)
    return "another type";
  for (size_t i = 0; i < a.floats.size(); ++i)
    if (std::memcmp(&a.floats[i], &b.floats[i], sizeof(double)) &&
        !(std::isnan(a.floats[i]) && std::isnan(b.floats[i])))
      return "element " + std::to_string(i) + ": " + std::to_string(a.floats[i]) + " and " +
             std::to_string(b.floats[i]);
  for (size_t i = 0; i < a.ints.size(); ++i)
    if (a.ints[i] != b.ints[i])
      return "element " + std::to_string(i) + ": " + std::to_string(a.ints[i]) + " and " + std::to_string(b.ints[i]);
  return "";
}

} // namespace tutti::laws
