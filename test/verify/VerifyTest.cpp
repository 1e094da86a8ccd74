// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The judge of tutti-verify: bounds, what has to be equal, and choices that rounding decides.
#include "tools/verify/Judge.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;

namespace tutti {
namespace {

MLIRContext &context() {
  static MLIRContext context;
  context.loadDialect<TuttiDialect, func::FuncDialect>();
  return context;
}

HostTensor floats(std::vector<double> values, SmallVector<int64_t> dims = {}) {
  if (dims.empty())
    dims = {static_cast<int64_t>(values.size())};
  return {Float32Type::get(&context()), dims, std::move(values), {}};
}

/// The only result of `@main`, whose text this is.
Answer answerOf(const std::string &text, ArrayRef<Answer> operands, Dominance dominance = Dominance::byOperations) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
  EXPECT_TRUE(module);
  llvm::Expected<std::vector<Answer>> answers =
      answer(module->lookupSymbol<func::FuncOp>("main"), operands, {}, Precision::f32, dominance);
  EXPECT_TRUE(bool(answers)) << llvm::toString(answers.takeError());
  return answers->front();
}

/// n numbers close above 1, `apart` units from each other, whose plain float32 is wrong by `error`, in turns up and
/// down.
Answer measured(int64_t n, double error, double apart = 1) {
  Answer answer = given(floats(std::vector<double>(n, 1)));
  for (int64_t i = 0; i < n; ++i) {
    answer.exact.floats[i] = answer.other.floats[i] = 1 + static_cast<double>(i) * apart * 0x1p-23;
    answer.plain.floats[i] = answer.perturbed.floats[i] = answer.exact.floats[i] + (i % 2 ? error : -error);
  }
  answer.contracts = true;
  return answer;
}

HostTensor wrongBy(const Answer &answer, double error) {
  HostTensor got = answer.exact;
  for (double &value : got.floats)
    value += error;
  return got;
}

TEST(Judge, BoundsBesidePlainFloat32) {
  constexpr double one = 0x1p-20;
  Answer many = measured(90000, one);
  EXPECT_TRUE(judge(wrongBy(many, 1.26 * one), many).ok); // 1.25 and chance, e^(3.1 / 300)
  EXPECT_FALSE(judge(wrongBy(many, 1.27 * one), many).ok);
  many.contracts = false;
  EXPECT_TRUE(judge(wrongBy(many, 2.01 * one), many).ok);
  EXPECT_FALSE(judge(wrongBy(many, 2.03 * one), many).ok);
  // What a softplus behind layers makes, and a constant that is added: up to two units by the functions' rule.
  auto little = [](double error) {
    Answer answer = measured(90000, 0); // whose plain float32 are floats, and stay so
    for (HostTensor *each : {&answer.exact, &answer.other})
      for (double &value : each->floats)
        value -= error;
    return answer;
  };
  constexpr double half = 0x1p-25;
  EXPECT_TRUE(judge(wrongBy(little(half), 2.01 * half), little(half)).ok);
  EXPECT_FALSE(judge(wrongBy(little(half), 2.05 * half), little(half)).ok);
  EXPECT_TRUE(judge(wrongBy(little(1.9 * half), 3.8 * half), little(1.9 * half)).ok);
  EXPECT_TRUE(judge(wrongBy(little(3 * half), 4 * half), little(3 * half)).ok);
  EXPECT_FALSE(judge(wrongBy(little(3 * half), 4.1 * half), little(3 * half)).ok);
  Verdict verdict = judge(wrongBy(many, 3 * one), many);
  EXPECT_NEAR(verdict.error, 3 * one, 0.03 * one);
  EXPECT_NEAR(verdict.plain, one, 0.01 * one);
  EXPECT_NEAR(verdict.largest, 3 * one, 1e-12);
}

// Of 90000 equal numbers one error is known: chance is e^3.1.
TEST(Judge, CountsEqualResultsOnce) {
  constexpr double one = 0x1p-20;
  Answer equal = measured(90000, one, 0);
  EXPECT_TRUE(judge(wrongBy(equal, 27 * one), equal).ok);
  EXPECT_FALSE(judge(wrongBy(equal, 28 * one), equal).ok);
}

TEST(Judge, LeavesTheRoundingOfTheResult) {
  Answer exact = measured(90000, 0);
  EXPECT_TRUE(judge(wrongBy(exact, std::ldexp(0.99, -24)), exact).ok);
  EXPECT_FALSE(judge(wrongBy(exact, std::ldexp(1.01, -24)), exact).ok);
}

// At a precision, plain float32 has its operands rounded; sums may be as exact as they like.
TEST(Judge, NoticesOperandsThatAreRoundedWrongly) {
  const char *text = R"(
    tutti.param @w : tensor<64x32xf32>
    func.func @main(%x: tensor<50x64xf32>) -> tensor<50x32xf32> {
      %w = tutti.get @w : tensor<64x32xf32>
      %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<50x64xf32>, tensor<64x32xf32>
      return %0 : tensor<50x32xf32>
    })";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  auto some = [&](int64_t rows, int64_t columns) {
    std::vector<double> values(rows * columns);
    for (double &value : values)
      value = normal(random);
    return floats(values, {rows, columns});
  };
  HostTensor x = some(50, 64), w = some(64, 32);
  auto productOf = [&](const std::function<double(double)> &round) {
    HostTensor y = HostTensor::zeros(x.element, {50, 32});
    for (int64_t i = 0; i < 50 * 32; ++i)
      for (int64_t k = 0; k < 64; ++k)
        y.floats[i] += round(x.floats[i / 32 * 64 + k]) * round(w.floats[k * 32 + i % 32]);
    return y;
  };
  for (auto [precision, bits] : {std::pair(Precision::tf32, 11), {Precision::f16, 11}, {Precision::bf16, 8}}) {
    auto answers =
        answer(module->lookupSymbol<func::FuncOp>("main"), given(x), [&](StringRef) { return w; }, precision);
    ASSERT_TRUE(bool(answers)) << llvm::toString(answers.takeError());
    auto roundWith = [bits = bits](double (*whole)(double)) {
      return [=](double value) {
        int exponent;
        double fraction = std::frexp(value, &exponent);
        return std::ldexp(whole(std::ldexp(fraction, bits)), exponent - bits);
      };
    };
    auto nearest = roundWith([](double value) { return std::round(value); });
    EXPECT_TRUE(judge(productOf(nearest), answers->front()).ok) << stringifyPrecision(precision).str();
    EXPECT_TRUE(judge(productOf([](double value) { return value; }), answers->front()).ok) << "float32 is better";
    EXPECT_FALSE(judge(productOf(roundWith([](double value) { return std::trunc(value); })), answers->front()).ok);
  }
}

// Math functions of a lower precision are as good as its numbers, where products do not dominate.
TEST(Judge, LeavesMathFunctionsWhatThePrecisionHas) {
  Answer exact = measured(90000, 0);
  exact.unit = 0x1p-11;
  EXPECT_FALSE(judge(wrongBy(exact, 0x1p-12), exact).ok);
  exact.contracts = false;
  EXPECT_TRUE(judge(wrongBy(exact, 0x1.fp-12), exact).ok);
  EXPECT_FALSE(judge(wrongBy(exact, 0x1.1p-11), exact).ok);
}

TEST(Judge, KnowsOneMemberAmongMany) {
  std::vector<Answer> members(10, measured(10000, 1e-6));
  Answer all = stack(members);
  HostTensor got = wrongBy(all, 1e-6);
  std::vector<uint32_t> active{9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_TRUE(judge(got, all, "y", "members", "float32", active).ok());
  for (int64_t i = 70000; i < 80000; ++i)
    got.floats[i] = all.exact.floats[i] + 1.5e-6;
  Row row = judge(got, all, "y", "members", "float32", active);
  EXPECT_TRUE(row.whole.ok);
  EXPECT_FALSE(row.ok());
  EXPECT_EQ(row.worst(), 7u);
}

TEST(Judge, WantsTheSameNansAndInfinities) {
  double inf = INFINITY, nan = std::nan("");
  Answer answer = given(floats({1, nan, inf, -inf, 1e39}));
  EXPECT_TRUE(judge(floats({1, nan, inf, -inf, inf}), answer).ok);
  for (const HostTensor &wrong : {floats({nan, nan, inf, -inf, inf}), floats({1, 1, inf, -inf, inf}),
                                  floats({1, nan, -inf, -inf, inf}), floats({1, nan, inf, -inf, 3e38})}) {
    Verdict verdict = judge(wrong, answer);
    EXPECT_FALSE(verdict.ok);
    EXPECT_EQ(verdict.different, 1);
  }
  answer.plain.floats[0] = inf; // overflows on the way
  EXPECT_TRUE(judge(floats({inf, nan, inf, -inf, inf}), answer).ok);
  EXPECT_EQ(judge(floats({inf, nan, inf, -inf, inf}), answer).undecided, 1);
  EXPECT_FALSE(judge(floats({inf, nan, inf, -inf, inf}), answer).comparesNothing());
  Answer open = given(floats({1, 2}));
  open.plain = floats({inf, nan}); // which has no answer: whatever ours is passes
  EXPECT_TRUE(judge(floats({7, 7}), open).ok);
  EXPECT_TRUE(judge(floats({7, 7}), open).comparesNothing());
}

// 1 + 2^-30 - 1: float32 loses what float64 sees.
const char *const lost = R"(
  %one = tutti.constant dense<1.0> : tensor<f32>
  %sum = tutti.add %x, %one : tensor<3xf32>, tensor<f32>
  %rest = tutti.sub %sum, %one : tensor<3xf32>, tensor<f32>
  %zero = tutti.constant dense<0.0> : tensor<f32>
)";

TEST(Undecided, AComparisonThatRoundingDecides) {
  Answer answer = answerOf("func.func @main(%x: tensor<3xf32>) -> tensor<3xi1> {" + std::string(lost) +
                               "%y = tutti.greater %rest, %zero : tensor<3xf32>, tensor<f32>\n"
                               "return %y : tensor<3xi1> }",
                           given(floats({0x1p-30, 0.5, -0.5})));
  EXPECT_EQ(answer.exact.ints, (std::vector<int64_t>{1, 1, 0}));
  EXPECT_EQ(answer.plain.ints, (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(answer.other.ints, (std::vector<int64_t>{0, 1, 0}));
  EXPECT_TRUE(judge(answer.plain, answer).ok);
  EXPECT_EQ(judge(answer.plain, answer).undecided, 1);
  HostTensor wrong = answer.exact;
  wrong.ints[1] = 0;
  EXPECT_EQ(judge(wrong, answer).different, 1);
  EXPECT_FALSE(judge(wrong, answer).ok);
}

TEST(Undecided, WhatHangsOnItIsNotCompared) {
  Answer answer = answerOf("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {" + std::string(lost) +
                               "%c = tutti.greater %rest, %zero : tensor<3xf32>, tensor<f32>\n"
                               "%y = tutti.select %c, %one, %zero : tensor<3xi1>, tensor<f32>, tensor<f32>\n"
                               "return %y : tensor<3xf32> }",
                           given(floats({0x1p-30, 0.5, -0.5})));
  EXPECT_TRUE(judge(answer.plain, answer).ok);
  EXPECT_EQ(judge(answer.plain, answer).undecided, 1);
  EXPECT_FALSE(judge(floats({1, 0, 0}), answer).ok);
}

TEST(Undecided, WhetherAValueEqualsItselfIsDecided) {
  Answer answer = answerOf("func.func @main(%x: tensor<3xf32>) -> tensor<3xi1> {" + std::string(lost) +
                               "%y = tutti.equal %rest, %rest : tensor<3xf32>, tensor<3xf32>\n"
                               "return %y : tensor<3xi1> }",
                           given(floats({0x1p-30, 0.5, std::nan("")})));
  EXPECT_EQ(answer.exact.ints, (std::vector<int64_t>{1, 1, 0}));
  EXPECT_EQ(answer.other.ints, answer.exact.ints);
}

TEST(Undecided, OperandsThatAllHaveAreDecided) {
  Answer answer = answerOf("func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xi1> {"
                           "%c = tutti.greater_equal %x, %y : tensor<2xf32>, tensor<2xf32>\n"
                           "return %c : tensor<2xi1> }",
                           {given(floats({1, 2})), given(floats({1, 2.0000002}))});
  EXPECT_EQ(answer.exact.ints, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(answer.other.ints, answer.exact.ints);
}

TEST(Undecided, Casts) {
  for (StringRef type : {"i32", "i1"}) {
    Answer answer = answerOf("func.func @main(%x: tensor<3xf32>) -> tensor<3x" + type.str() + "> {" +
                                 std::string(lost) + "%y = tutti.cast %rest : tensor<3xf32> -> tensor<3x" + type.str() +
                                 ">\n"
                                 "return %y : tensor<3x" +
                                 type.str() + "> }",
                             given(floats({0x1p-30, 2.5, 2 - 0x1p-30})));
    EXPECT_EQ(answer.exact.ints == answer.other.ints, false) << type.str();
    EXPECT_EQ(answer.exact.ints[1], answer.other.ints[1]);
    EXPECT_TRUE(judge(answer.plain, answer).ok) << type.str();
  }
}

TEST(Undecided, Votes) {
  // Two members, two rows of three scores; in row 1 the first member's scores are as good as equal.
  Answer members = given(floats({1, 2, 3, 1, 5, 5, 3, 2, 1, 1, 7, 2}, {2, 2, 3}));
  members.exact.floats[5] += 1e-9;
  members.other = members.exact;
  members.plain.floats[4] += 1e-8;
  llvm::Expected<Answer> vote = underHead(context(), members, "vote");
  ASSERT_TRUE(bool(vote));
  EXPECT_EQ(vote->other.ints[0], vote->exact.ints[0]);
  EXPECT_EQ(vote->other.ints[1], -1);
  EXPECT_FALSE(bool(underHead(context(), members, "median")));
}

TEST(Reference, TellsWhatContractionsDo) {
  const char *text = R"(func.func @main(%x: tensor<2x64xf32>, %w: tensor<64x3xf32>) -> tensor<2x3xf32> {
    %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<2x64xf32>, tensor<64x3xf32>
    %1 = tutti.tanh %0 : tensor<2x3xf32>
    return %1 : tensor<2x3xf32> })";
  auto ones = [](int64_t n, SmallVector<int64_t> dims) { return given(floats(std::vector<double>(n, 0.1), dims)); };
  EXPECT_TRUE(answerOf(text, {ones(128, {2, 64}), ones(192, {64, 3})}).contracts);
  EXPECT_FALSE(answerOf("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {"
                        "%y = tutti.tanh %x : tensor<2xf32>\n return %y : tensor<2xf32> }",
                        ones(2, {2}))
                   .contracts);
}

// Plain float32 has this sum without any error, where another order of its terms has some. What cancellation makes of a
// rounding of the terms is allowed, and not much more; of many sums, plain float32's own errors tell.
TEST(Reference, FewErrorsAreNotSmallByLuck) {
  SmallVector<double> terms = {0x1p0, 0x1p-1, 0x1p-2, -0x1p0, -0x1p-1, 0x1p-6};
  auto sums = [&](int64_t rows) {
    std::vector<double> values;
    for (int64_t i = 0; i < rows; ++i)
      llvm::append_range(values, terms);
    std::string x = "tensor<" + std::to_string(rows) + "x6xf32>", y = "tensor<" + std::to_string(rows) + "x1xf32>";
    return answerOf("func.func @main(%x: " + x + ") -> " + y + " { %0 = tutti.reduce sum %x [1] : " + x +
                        "\n return %0 : " + y + " }",
                    {given(floats(values, {rows, 6}))});
  };
  Answer one = sums(1);
  EXPECT_EQ(one.plain.floats, one.exact.floats);
  double off = std::fabs(one.perturbed.floats[0] - one.exact.floats[0]);
  EXPECT_GT(off, 0x1p-27);
  EXPECT_LT(off, 0x1p-22);
  EXPECT_TRUE(judge(wrongBy(one, 0x1p-24), one).ok);
  EXPECT_FALSE(judge(wrongBy(one, 0x1p-14), one).ok);
  Answer many = sums(64);
  EXPECT_EQ(many.perturbed.floats, many.plain.floats);
  EXPECT_FALSE(judge(wrongBy(many, 0x1p-24), many).ok);
}

// Near 1 a rounding of tanh is most of what is wrong with 1 - tanh^2, though the sums are most of the work.
TEST(Reference, TellsWhoseErrorsDominate) {
  const char *text = R"(func.func @main(%x: tensor<2x64xf32>, %w: tensor<64x3xf32>) -> (tensor<2x3xf32>) {
    %0 = tutti.contract %x, %w "bk,kn->bn" : tensor<2x64xf32>, tensor<64x3xf32>
    %1 = tutti.tanh %0 : tensor<2x3xf32>
    %2 = tutti.mul %1, %1 : tensor<2x3xf32>, tensor<2x3xf32>
    %3 = tutti.constant dense<1.0> : tensor<f32>
    %4 = tutti.sub %3, %2 : tensor<f32>, tensor<2x3xf32>
    return %4 : tensor<2x3xf32> })";
  std::vector<double> rows(128), weights(192);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = float(0.5 + 0.001 * double(i));
  auto answered = [&](double scale, Dominance dominance) {
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = float(scale * (1 + 0.01 * double(i % 7)));
    return answerOf(text, {given(floats(rows, {2, 64})), given(floats(weights, {64, 3}))}, dominance);
  };
  EXPECT_TRUE(answered(0.1, Dominance::byOperations).contracts); // tanh of 4
  EXPECT_FALSE(answered(0.1, Dominance::byErrors).contracts);
  EXPECT_TRUE(answered(0.03, Dominance::byErrors).contracts); // of 1
}

TEST(Reference, CountsTheRoundingsBehindAResult) {
  // Moving rounds nothing, and three products of what two sums have wrong are wrong in two ways.
  const char *text = R"(func.func @main(%x: tensor<2x8xf32>, %w: tensor<3xf32>) -> tensor<2x3xf32> {
    %0 = tutti.reduce sum %x [1] : tensor<2x8xf32>
    %1 = tutti.reshape %0 : tensor<2x1xf32> -> tensor<2xf32>
    %2 = tutti.contract %1, %w "a,b->ab" : tensor<2xf32>, tensor<3xf32>
    return %2 : tensor<2x3xf32> })";
  Answer two = answerOf(text, {given(floats(std::vector<double>(16, 0.1), {2, 8})), given(floats({1, 2, 3}))});
  EXPECT_EQ(two.independent, 2);
  EXPECT_EQ(stack({two, two}).independent, 4);
  EXPECT_EQ(given(floats({1})).independent, HUGE_VAL);

  // Whose luck is that of two errors, not of 90000: chance is e^(3.1 / sqrt 2).
  constexpr double one = 0x1p-20;
  Answer many = measured(90000, one);
  many.independent = 2;
  EXPECT_TRUE(judge(wrongBy(many, 11 * one), many).ok);
  EXPECT_FALSE(judge(wrongBy(many, 11.5 * one), many).ok);
}

} // namespace
} // namespace tutti
