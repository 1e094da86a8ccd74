// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tutti-verify is asked to compare, and the inputs for it: from files, else random numbers.
#ifndef TUTTI_TOOLS_VERIFY_INPUTS_H
#define TUTTI_TOOLS_VERIFY_INPUTS_H

#include "Report.h"

#include "tools/common/Npy.h"
#include "tools/common/Programs.h"

namespace tutti {

/// The command line.
struct Arguments {
  std::string artifact, json;
  tool::DeviceArguments device;
  std::vector<std::string> models, weights, binds, inputs, dims;
  std::optional<std::string> active;
  uint64_t seed = 0;
  bool ops = false;
};

/// Reads the inputs' files (matchInputs); `inputs` gets a tensor without a type for an input that has none.
tool::Failure readInputs(const std::vector<std::string> &files, const Artifact &artifact,
                         std::vector<tool::Tensor> &inputs);
/// The programs to verify, one a binding of the sizes: those that the inputs and --dim leave.
tool::Failure chooseBindings(const Arguments &arguments, const Artifact &artifact,
                             const tutti_session_options_t &options, const std::vector<tool::Tensor> &inputs,
                             std::vector<tutti_session_options_t> &chosen);
/// Binds the inputs that are there.
tool::Failure bindInputs(const std::vector<std::string> &files, const Artifact &artifact,
                         std::vector<tool::Tensor> &inputs, Session &session);
/// The call's sizes by name: those that --dim gives, of the others those that the files have, then 32, or the next that
/// there may be.
tool::Failure chooseSizes(const Arguments &arguments, const Artifact &artifact, uint32_t program,
                          const std::vector<tool::Tensor> &inputs, std::map<std::string, int64_t> &sizes);
/// Makes the inputs that no file gave from `seed`, of the types that the model has for them and the dims that the
/// session wants, and binds them.
tool::Failure seedInputs(const Artifact &artifact, const Ports &ports, uint64_t seed, Session &session,
                         std::vector<tool::Tensor> &inputs);

} // namespace tutti

#endif
