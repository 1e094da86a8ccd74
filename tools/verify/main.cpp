// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-verify: the command line.
#include "Verify.h"

#include <CLI/CLI.hpp>

using namespace tutti;
using namespace tutti::tool;

int main(int argc, char **argv) {
  CLI::App app(
      "Compares an artifact's results with a float64 evaluation of the model files that it was compiled from.\n"
      "Errors are 2-norms relative to the reference's. Ours may be at most 1.25 times that of plain float32 where\n"
      "contractions dominate, twice elsewhere, and a little more where there are few elements to compare\n"
      "(docs/numerics.md, 9); at a lower precision of plain float32 with operands rounded to it. Integers and bools\n"
      "have to be equal.",
      "tutti-verify");
  app.footer("Exit 1: out of bounds.\n\nExample:\n  tutti-verify digits.tutti digits_*.onnx --input image=images.npy "
             "--active 0,3,7");
  Arguments a;
  app.add_option("FILE", a.artifact, "the artifact, as tutti-compile made it")->required();
  app.add_option("MODEL", a.models,
                 "the model files that it was compiled from, in their order; @FILE reads names, one a line")
      ->required()
      ->expected(1, -1);
  app.add_option("--weights", a.weights, "the safetensors files, if it was compiled from such; @FILE reads names")
      ->type_name("FILE")
      ->expected(1, -1);
  addRepeated(app, "--bind", "NAME=FILE", a.binds, "NAME=FILE.npy: the constants that inputs were bound to");
  addRepeated(app, "--input", "NAME=FILE", a.inputs, "NAME=FILE.npy; inputs without a file are random numbers");
  addRepeated(app, "--dim", "NAME=V", a.dims,
              "NAME=V: the size of a dimension (default: the files', else 32 where the range has it)");
  app.add_option("--active", a.active, "only these members, in this order, such as 0,3,7 (default: all)")
      ->type_name("I,...");
  wholeNumber(app.add_option("--seed", a.seed, "of the random inputs (default: 0)"), 0, UINT64_MAX)->type_name("N");
  addDeviceArguments(app, a.device);
  app.add_flag("--ops", a.ops,
               "also every op by itself, on equal inputs: the first out of bounds is named in any case");
  app.add_option("--json", a.json, "also writes the table to FILE as JSON")->type_name("FILE");
  return toolMain(app, argc, argv, [&] { return Verification(std::move(a)).run(); });
}
