// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of model files on the command line.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace tutti::tool {

/// Adds the names given to `names`; @FILE stands for the names in FILE, one a line. Returns what is wrong, or nothing.
inline std::string readModelNames(const std::vector<std::string> &given, std::vector<std::string> &names,
                                  const std::string &what = "models") {
  for (const std::string &text : given) {
    if (text.empty() || text[0] != '@') {
      names.push_back(text);
      continue;
    }
    std::ifstream list(text.substr(1));
    if (!list)
      return "cannot read the list of " + what + " '" + text.substr(1) + "'";
    constexpr const char *blank = " \t\r\v\f";
    for (std::string line; std::getline(list, line);)
      if (size_t first = line.find_first_not_of(blank); first != std::string::npos)
        names.push_back(line.substr(first, line.find_last_not_of(blank) - first + 1));
  }
  return "";
}

} // namespace tutti::tool
