// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles one math op over an array to native code of a given CPU level, in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tutti {

/// A loop that applies one op of the math dialect to arrays, through expandMath and LLVM.
class MathLoop {
public:
  struct Options {
    std::string op;   ///< such as "math.exp"
    int operands = 1; ///< 1 or 2
    std::string element = "f32";
    int lanes = 16; ///< 1 is scalar code
    std::string cpu = "x86-64-v3";
    std::string constant = {}; ///< if given, the number that stands for the second operand
    bool one = false; ///< y[0] stands for all of the second operand, and divisions by it are tutti-cpu-divisions'
  };
  /// `element` is f32, f64, i32 or i64. Aborts with a message when the op does not compile, or compiles to code that
  /// calls anything.
  explicit MathLoop(const Options &options);
  MathLoop(MathLoop &&);
  ~MathLoop();

  /// out[i] = op(x[i], y[i]) for i < n, a multiple of `lanes`; y is not read by unary ops.
  void operator()(void *out, const void *x, const void *y, int64_t n) const { function(out, x, y, n); }

  /// Whether this machine can run code for `cpu`.
  static bool runsHere(const std::string &cpu);

private:
  struct State;
  std::unique_ptr<State> state;
  void (*function)(void *, const void *, const void *, int64_t) = nullptr;
};

} // namespace tutti
