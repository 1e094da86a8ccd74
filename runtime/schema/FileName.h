// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What inputs and outputs are called as files.
#pragma once

#include <string>
#include <string_view>

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

/// Of an output and a head: NAME.npy for the members' own values, else NAME.HEAD.npy.
inline std::string outputFile(std::string_view name, std::string_view head) {
  std::string full(name);
  if (head != "members" && !head.empty())
    (full += '.') += head;
  return fileNameOf(full) + ".npy";
}

} // namespace tutti::rt
