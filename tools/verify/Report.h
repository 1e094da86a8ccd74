// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tutti-verify says, for people and for machines.
#ifndef TUTTI_TOOLS_VERIFY_REPORT_H
#define TUTTI_TOOLS_VERIFY_REPORT_H

#include "Judge.h"

#include <map>

namespace tutti {

struct Report {
  std::optional<uint64_t> seed; ///< of the inputs that no file gave
  std::map<std::string, int64_t> sizes;
  std::vector<uint32_t> active;
  uint32_t threads = 1;
  Precision precision = Precision::f32; ///< of the program
  std::vector<Row> rows;
  std::optional<std::vector<OpRow>> ops; ///< where they were compared one by one

  /// Whether the outputs are within their bounds.
  bool ok() const {
    return llvm::all_of(rows, [](const Row &row) { return row.ok(); });
  }
  bool opsOk() const {
    return !ops || llvm::all_of(*ops, [](const OpRow &row) { return row.verdict.ok; });
  }
};

/// "seed 7; batch = 8; 10 members; 2 threads", the table and the sum of it, on stdout.
void print(const Report &report);
/// The ops' table, or only the first that is out of bounds.
void printOps(const Report &report, bool all);
/// All of it as JSON: an object; of several programs an array of them.
std::string json(llvm::ArrayRef<Report> reports);

} // namespace tutti

#endif
