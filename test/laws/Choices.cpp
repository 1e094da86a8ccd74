// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that choose elements of a row choose what their reference does: among NaN, zeros of both signs, infinities and
// equal ones too, and in rows long enough for every part of their emitters.
#include "Compiled.h"

#include "compiler/reference/Evaluator.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti::laws {

/// Rows full of what choices trip over: few different values, so that most have equals.
static HostTensor tricky(std::mt19937 &generator, Type element, ArrayRef<int64_t> dims) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {0.0, -0.0, infinity, -infinity, std::nan(""), 1.5, -1.5, 1e-40, -1e-40, 3e38, -3e38};
  HostTensor x = HostTensor::zeros(element, dims);
  int64_t row = dims.back(), place = 0;
  unsigned kinds = 1;
  for (double &value : x.floats) {
    if (place++ % row == 0) // the first rows have no NaN
      kinds = 2 + generator() % 10;
    value = values[generator() % kinds];
    if (kinds == 11)
      value = static_cast<double>(generator() % 100000) - 50000;
    HostTensor one{element, {1}, {value}, {}};
    uint64_t bits = 0;
    one.toBytes(&bits);
    value = HostTensor::fromBytes(element, {1}, &bits).floats[0];
    if (std::isnan(value) && generator() % 2)
      value = std::copysign(value, -1.0);
  }
  unsigned width = x.isFloat() ? 0 : element.getIntOrFloatBitWidth();
  for (int64_t &value : x.ints)
    value = generator() % 4   ? static_cast<int64_t>(generator() % 7) - 3
            : generator() % 2 ? llvm::minIntN(width)
                              : llvm::maxIntN(width);
  return x;
}

using Inputs = llvm::function_ref<HostTensor(std::mt19937 &, Type, ArrayRef<int64_t>)>;
static void expectReference(const std::string &text, Type element, ArrayRef<int64_t> dims, Inputs inputs = tricky) {
  SCOPED_TRACE(text);
  Model model{text, {}, 2};
  llvm::Expected<std::unique_ptr<Artifact>> artifact = Artifact::compile(model);
  ASSERT_TRUE(bool(artifact)) << llvm::toString(artifact.takeError());
  if (!(*artifact)->runs())
    return;
  OwningOpRef<ModuleOp> module = parseModule(text);
  ASSERT_TRUE(module);
  std::mt19937 generator(11);
  for (int round = 0; round < 3; ++round) {
    HostTensor x = inputs(generator, element, dims);
    EvaluateContext reference;
    llvm::Expected<std::vector<HostTensor>> want = evaluate(module->lookupSymbol<func::FuncOp>("main"), x, reference);
    ASSERT_TRUE(bool(want)) << llvm::toString(want.takeError());
    llvm::Expected<std::vector<HostTensor>> got = (*artifact)->run(x);
    ASSERT_TRUE(bool(got)) << llvm::toString(got.takeError());
    for (auto [y, z] : llvm::zip_equal(*got, *want))
      for (int64_t m = 0; m < 2; ++m)
        EXPECT_EQ(difference(unstack(y, m), z), "");
  }
}

TEST(Choices, AreTheReferences) {
  Builder b(&context());
  for (Type element :
       {Type(b.getF32Type()), Type(b.getF64Type()), Type(b.getF16Type()), Type(b.getI32Type()), Type(b.getI64Type())}) {
    std::string name;
    llvm::raw_string_ostream(name) << element;
    std::string x = "tensor<6x45x" + name + ">";
    expectReference("func.func @main(%x: " + x +
                        ") -> (tensor<6x1xi64>, tensor<6x1xi64>, tensor<6x1xi64>, tensor<1x45xi64>, "
                        "tensor<1x45xi64>, tensor<6x45xi64>, tensor<6x45xi64>, tensor<6x9xi64>) {\n"
                        "%0 = tutti.arg max %x axis 1 : " +
                        x + "\n%1 = tutti.arg min %x axis 1 : " + x + "\n%2 = tutti.arg max %x axis 1 last : " + x +
                        "\n%3 = tutti.arg max %x axis 0 : " + x + "\n%4 = tutti.arg min %x axis 0 last : " + x +
                        "\n%5 = tutti.top 45 of %x : " + x + "\n%6 = tutti.top 45 of %x smallest : " + x +
                        "\n%7 = tutti.top 9 of %x : " + x +
                        "\nreturn %0, %1, %2, %3, %4, %5, %6, %7 : tensor<6x1xi64>, tensor<6x1xi64>, tensor<6x1xi64>, "
                        "tensor<1x45xi64>, "
                        "tensor<1x45xi64>, tensor<6x45xi64>, tensor<6x45xi64>, tensor<6x9xi64>\n}",
                    element, {6, 45});
  }
}

/// The values at the places chosen, in one kernel with the choice.
TEST(Choices, OfLongRowsAndTheirValues) {
  Builder b(&context());
  for (Type element : {Type(b.getF32Type()), Type(b.getF64Type())}) {
    std::string name;
    llvm::raw_string_ostream(name) << element;
    std::string x = "tensor<2x1003x" + name + ">", values = "tensor<2x50x" + name + ">",
                best = "tensor<2x1x" + name + ">";
    expectReference("func.func @main(%x: " + x + ") -> (" + values + ", " + best +
                        ") {\n%t = tutti.top 50 of %x : " + x + "\n%0 = tutti.gather %x at %t axis 1 batch 1 : " + x +
                        ", tensor<2x50xi64>\n%a = tutti.arg min %x axis 1 : " + x +
                        "\n%1 = tutti.gather %x at %a axis 1 batch 1 : " + x +
                        ", tensor<2x1xi64>\nreturn %0, %1 : " + values + ", " + best + "\n}",
                    element, {2, 1003});
  }
}

/// Of every second element, which are read where they lie: few of many, from a vector's middle on.
TEST(Choices, OfEverySecondElement) {
  Builder b(&context());
  for (Type element : {Type(b.getF32Type()), Type(b.getF64Type()), Type(b.getI64Type())})
    for (auto [columns, count] : {std::pair(40, 3), {90, 5}, {4000, 1}}) {
      std::string name, all = std::to_string(columns), half = std::to_string(columns / 2), some = std::to_string(count);
      llvm::raw_string_ostream(name) << element;
      std::string x = "tensor<6x" + all + "x" + name + ">", s = "tensor<6x" + half + "x" + name + ">",
                  y = "tensor<6x" + some + "xi64>";
      expectReference("func.func @main(%x: " + x + ") -> " + y + " {\n%s = tutti.slice %x from [0, 0] size [-1, " +
                          half + "] step [1, 2] : " + x + "\n%t = tutti.top " + some + " of %s : " + s +
                          "\nreturn %t : " + y + "\n}",
                      element, {6, columns});
    }
}

/// As many elements are taken of a computed row as it has, in another order.
TEST(Choices, OfComputedRows) {
  Builder b(&context());
  std::string x = "tensor<3x45xf32>", places = "tensor<3x45xi64>";
  expectReference("func.func @main(%x: " + x + ") -> " + x + " {\n%y = tutti.neg %x : " + x +
                      "\n%t = tutti.top 45 of %x : " + x + "\n%0 = tutti.gather %y at %t axis 1 batch 1 : " + x + ", " +
                      places + "\nreturn %0 : " + x + "\n}",
                  b.getF32Type(), {3, 45});
}

/// The largest and the smallest, along a row and across rows: a NaN of either sign stays, and -0 is below +0.
TEST(Choices, OfExtremes) {
  Builder b(&context());
  for (Type element : {Type(b.getF32Type()), Type(b.getF64Type()), Type(b.getBF16Type()), Type(b.getI8Type())})
    for (int64_t columns : {1, 5, 45, 300}) {
      std::string name, n = std::to_string(columns);
      llvm::raw_string_ostream(name) << element;
      std::string x = "tensor<9x" + n + "x" + name + ">", y = "tensor<9x1x" + name + ">",
                  z = "tensor<1x" + n + "x" + name + ">";
      std::string results = y + ", " + y + ", " + z + ", " + z;
      expectReference("func.func @main(%x: " + x + ") -> (" + results + ") {\n%0 = tutti.reduce max %x [1] : " + x +
                          "\n%1 = tutti.reduce min %x [1] : " + x + "\n%2 = tutti.reduce max %x [0] : " + x +
                          "\n%3 = tutti.reduce min %x [0] : " + x + "\nreturn %0, %1, %2, %3 : " + results + "\n}",
                      element, {9, columns});
    }
}

/// Rows whose large elements lie where a CPU takes one element for many: a multiple of its lanes apart.
TEST(Choices, OfRowsWhoseLargeElementsLieFarApart) {
  Builder b(&context());
  auto apart = [](std::mt19937 &generator, Type element, ArrayRef<int64_t> dims) {
    HostTensor x = HostTensor::zeros(element, dims);
    auto number = [&, place = 0]() mutable {
      bool isLarge = place % 64 == 3 || place % 512 == 17;
      ++place;
      return (isLarge ? 1000 : 0) + static_cast<int64_t>(generator() % 900);
    };
    std::generate(x.floats.begin(), x.floats.end(), number);
    std::generate(x.ints.begin(), x.ints.end(), number);
    return x;
  };
  // A device takes each in the same way.
  const std::vector<int64_t> counts =
      cudaTarget() ? std::vector<int64_t>{5, 61} : std::vector<int64_t>{1, 5, 30, 61, 250};
  for (Type element : {Type(b.getF32Type()), Type(b.getI32Type()), Type(b.getF64Type())})
    for (int64_t count : counts) {
      std::string name;
      llvm::raw_string_ostream(name) << element;
      std::string x = "tensor<2x3011x" + name + ">", y = "tensor<2x" + std::to_string(count) + "xi64>";
      expectReference("func.func @main(%x: " + x + ") -> (" + y + ", " + y + ") {\n%t = tutti.top " +
                          std::to_string(count) + " of %x : " + x + "\n%s = tutti.top " + std::to_string(count) +
                          " of %x smallest : " + x + "\nreturn %t, %s : " + y + ", " + y + "\n}",
                      element, {2, 3011}, apart);
    }
}

/// Rows of several blocks that a CPU sorts by themselves and merges.
TEST(Choices, OfRowsThatAreSorted) {
  if (cudaTarget())
    GTEST_SKIP() << "a device goes over the row for each place";
  Builder b(&context());
  for (int64_t count : {700, 9001}) {
    std::string x = "tensor<2x9001xf32>", y = "tensor<2x" + std::to_string(count) + "xi64>";
    expectReference("func.func @main(%x: " + x + ") -> " + y + " {\n%t = tutti.top " + std::to_string(count) +
                        " of %x smallest : " + x + "\nreturn %t : " + y + "\n}",
                    b.getF32Type(), {2, 9001});
  }
}

} // namespace tutti::laws
