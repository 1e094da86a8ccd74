// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Op by op on equal inputs: every op compiled by itself, and compared with its own reference.
#ifndef TUTTI_TOOLS_VERIFY_OPS_H
#define TUTTI_TOOLS_VERIFY_OPS_H

#include "Judge.h"

#include "compiler/Compiler.h"
#include "dialects/tutti/Module.h"
#include "tutti/tutti.h"

namespace tutti {

struct OpRequest {
  std::vector<MemberFiles> members; ///< to compare
  ImportOptions import;
  Ports ports;                   ///< member 0's, whose names the inputs and sizes have
  std::vector<SizeRange> ranges; ///< of its module
  bool shareByContent = true;
  std::vector<std::string> levels;                 ///< code for a CPU,
  std::vector<const Architecture *> architectures; ///< or for such devices
  Precision precision = Precision::f32;
  tutti_session_options_t session = TUTTI_SESSION_OPTIONS_INIT; ///< on what it runs
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::vector<HostTensor>> inputs; ///< by name: one for all members, or one each
  bool stopAtFirst = false;                              ///< that is out of bounds
};

/// The ops in the order in which they are computed.
llvm::Expected<std::vector<OpRow>> compareOps(mlir::MLIRContext &context, const OpRequest &request);

} // namespace tutti

#endif
