// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and other text out of files, as messages show them: whatever somebody has written there, it neither fills a
// terminal nor steers it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::rt {

/// Bytes of the character that `text`, which is not empty, begins with; 0 where that is no UTF-8, or a character that
/// steers what shows it: controls, ends of lines, turns of the direction of writing.
constexpr size_t printableBytes(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : 0u; };
  uint32_t lead = byte(0);
  if (lead < 0x80)
    return lead >= 0x20 && lead != 0x7f;
  size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  uint32_t code = lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  // Not in more bytes than it takes, no half of a surrogate pair; the first of two bytes that are no controls is 0xa0.
  constexpr uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
  bool good = lead >= 0xc2 && lead <= 0xf4 && code >= least[bytes] && code < 0x110000 && code >> 11 != 0x1b;
  bool steers = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                (code >= 0x2066 && code <= 0x2069);
  return good && !steers ? bytes : 0;
}

/// The text in one line of at most `most` bytes: \xNN for each byte that is not to be printed, and the middle left out
/// where it is longer, since names that begin alike are told apart by their ends. What this made it leaves as it is.
inline std::string shown(std::string_view text, size_t most = 200) {
  std::string all, ends;
  // What the middle is does not matter: only the ends of a long one are looked at, as messages of a megabyte's name are
  // made thousands of times. Where characters begin shows within a few bytes, wherever one starts to read.
  constexpr size_t edge = 8;
  if (text.size() > 2 * (most + edge))
    text = ends.append(text.substr(0, most + edge)).append(text.substr(text.size() - most - edge));
  for (size_t bytes; !text.empty(); text.remove_prefix(bytes ? bytes : 1)) {
    constexpr char digits[] = "0123456789abcdef";
    bytes = printableBytes(text);
    if (bytes)
      all += text.substr(0, bytes);
    else
      all += {'\\', 'x', digits[uint8_t(text[0]) >> 4], digits[text[0] & 15]};
  }
  if (all.size() > most) {
    size_t head = most / 2, tail = all.size() - (most - head - 3);
    auto inside = [&](size_t at) { return at < all.size() && (uint8_t(all[at]) & 0xc0) == 0x80; };
    while (inside(head)) // between two characters
      --head;
    while (inside(tail))
      ++tail;
    all.replace(head, tail - head, "...");
  }
  return all;
}

/// A name, as messages quote it.
inline std::string quote(std::string_view name) { return "'" + shown(name) + "'"; }

/// A message of several lines, whatever it was put together from.
inline std::string shownLines(std::string_view text) {
  constexpr size_t most = 4000; // bytes of a line; more has only what nobody has cut before
  for (std::string all;; all += '\n') {
    size_t end = text.find('\n');
    all += shown(text.substr(0, end), most);
    if (end == text.npos)
      return all;
    text.remove_prefix(end + 1);
  }
}

} // namespace tutti::rt
