// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tutti-verify does: an artifact's answers beside a float64 evaluation of its model files.
#ifndef TUTTI_TOOLS_VERIFY_VERIFY_H
#define TUTTI_TOOLS_VERIFY_VERIFY_H

#include "Inputs.h"
#include "tools/common/OutputFiles.h"

namespace tutti {

/// One call of the tool: what all programs of the artifact have in common.
class Verification {
public:
  explicit Verification(Arguments arguments) : arguments(std::move(arguments)) {}

  /// Prints a table for each program that the arguments leave, and writes the JSON that they name. Exit code `differs`
  /// when something is out of bounds.
  tool::Failure run();

private:
  class Program; ///< one of them, at one binding of the sizes that it leaves open

  tool::Failure readModels();
  tool::Failure checkModels() const;
  tool::Failure readRequest();
  tool::Failure checkJson(std::vector<tool::ReadFile> read) const;
  tool::Failure writeReports() const;

  Arguments arguments;
  Artifact artifact;
  std::vector<MemberFiles> files; ///< by member
  ImportOptions import;
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  std::vector<std::string> inputFiles; ///< empty: none
  std::vector<tool::Tensor> inputs;    ///< those that files gave; the others without a type
  Report asked;                        ///< what each program's report starts as
  std::vector<Report> reports;
};

} // namespace tutti

#endif
