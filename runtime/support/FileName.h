// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What inputs and outputs are called as files, and what is meant by such a name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::rt {

/// `name` with the characters that do not go into file names replaced by '_'.
inline std::string fileNameOf(std::string_view name) {
  std::string file;
  for (char c : name) {
    bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (plain)
      file += c;
    else if ((c & 0xc0) != 0x80) // one '_' for a character of several bytes
      file += '_';
  }
  return file;
}

/// The places among `names` that a user's `wanted` can mean: of the one that is spelled so, else of all that are as
/// file names.
inline std::vector<size_t> findByName(std::span<const std::string_view> names, std::string_view wanted) {
  std::vector<size_t> found;
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == wanted)
      return {i};
    else if (fileNameOf(names[i]) == wanted)
      found.push_back(i);
  return found;
}

/// The file of an output's head: NAME.npy for the members' own values, else NAME.HEAD.npy.
inline std::string outputFile(std::string_view name, std::string_view head) {
  std::string full(name);
  if (head != "members" && !head.empty())
    (full += '.') += head;
  return fileNameOf(full) + ".npy";
}

} // namespace tutti::rt
