// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs of random ops, each a model of which every value that an op makes is a result.
#ifndef TUTTI_TEST_LAWS_RANDOMGRAPHS_H
#define TUTTI_TEST_LAWS_RANDOMGRAPHS_H

#include "Compiled.h"

namespace tutti::laws {

struct RandomGraph {
  Model model;                    ///< three members, or two
  std::vector<HostTensor> inputs; ///< with the member axis in front where the model has inputs of its own
  bool hasBatch = false;          ///< the inputs' axis 0 (of a member) has a length that the call decides
};

/// The graph of a seed: the same on every machine.
RandomGraph randomGraph(unsigned seed);

/// The model with member 0's values in its text, as tutti-compile and tutti-opt take it.
std::string replayable(const Model &model);

} // namespace tutti::laws

#endif
