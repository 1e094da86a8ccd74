// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names in messages: every character, every way to break one, every length.
#include "runtime/support/Text.h"
#include "core/Error.h"

#include <gtest/gtest.h>

#include <random>

using namespace tutti::rt;

namespace {

/// RFC 3629, without looking at what is encoded.
std::string encoded(uint32_t code, size_t bytes) {
  std::string text;
  for (size_t i = bytes; i-- > 1; code >>= 6)
    text.insert(text.begin(), char(0x80 | (code & 0x3f)));
  constexpr uint32_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  return char(lead[bytes] | code) + text;
}

size_t bytesOf(uint32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

bool steers(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code < 0x202f) || (code >= 0x2066 && code < 0x206a);
}

/// What a terminal is given of any text at all.
void expectText(const std::string &text, bool lines = false) {
  for (std::string_view rest = text; !rest.empty();) {
    size_t bytes = lines && rest[0] == '\n' ? 1 : printableBytes(rest);
    ASSERT_GT(bytes, 0u) << "at byte " << rest.data() - text.data();
    rest.remove_prefix(bytes);
  }
}

std::string randomBytes(std::mt19937 &random, size_t bytes) {
  std::string text(bytes, '\0');
  for (char &c : text)
    c = char(random() % 3 ? random() : 'a' + random() % 26);
  return text;
}

TEST(Text, everyCharacter) {
  for (uint32_t code = 0; code < 0x110000; ++code) {
    size_t bytes = bytesOf(code);
    std::string text = encoded(code, bytes);
    bool isText = !steers(code) && (code < 0xd800 || code >= 0xe000);
    ASSERT_EQ(printableBytes(text + "x"), isText ? bytes : 0) << code;
    if (bytes > 1) {
      ASSERT_EQ(printableBytes(text.substr(0, bytes - 1)), 0u) << code;
      ASSERT_EQ(printableBytes(text.substr(0, bytes - 1) + "x"), 0u) << code;
    }
    for (size_t more = bytes + 1; more <= 4; ++more)
      ASSERT_EQ(printableBytes(encoded(code, more)), 0u) << code << " in " << more << " bytes";
  }
  for (int lead : {0x80, 0xbf, 0xf5, 0xf8, 0xff})
    EXPECT_EQ(printableBytes(std::string(1, char(lead)) + "\x80\x80\x80"), 0u) << lead;
  EXPECT_EQ(printableBytes("\xf4\x90\x80\x80"), 0u); // above the last one
}

TEST(Text, showsWhatItIs) {
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("layers.0.weight"), "layers.0.weight");
  EXPECT_EQ(shown("Größe 大"), "Größe 大");
  EXPECT_EQ(shown("a\nb\x1b[2J\x7f"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_EQ(shown("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(shown(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(quote("x"), "'x'");
  EXPECT_EQ(shownLines("a\tb\nc\n"), "a\\x09b\nc\n");
}

TEST(Text, cutsTheMiddle) {
  EXPECT_EQ(shown(std::string(200, 'a')), std::string(200, 'a'));
  EXPECT_EQ(shown("begin" + std::string(1 << 20, 'n') + "end"),
            "begin" + std::string(95, 'n') + "..." + std::string(94, 'n') + "end");
  EXPECT_EQ(shownLines(std::string(5000, 'a') + "\nb").size(), 4000u + 2);
  std::mt19937 random(1);
  for (size_t bytes = 0; bytes < 700; ++bytes) {
    std::string text = randomBytes(random, bytes), wide;
    for (size_t i = 0; i < bytes; ++i)
      wide += encoded(0x5927, 3);
    for (const std::string &name : {text, wide, "a" + wide, "ab" + wide}) {
      std::string once = shown(name);
      expectText(once);
      EXPECT_LE(once.size(), 200u);
      EXPECT_EQ(shown(once), once);
      expectText(shownLines(name), true);
      // Of long ones only the ends are looked at.
      std::string whole = shown(name, 1 << 20);
      size_t gap = once.find("...");
      if (whole.size() <= 200)
        EXPECT_EQ(once, whole);
      else
        EXPECT_TRUE(whole.starts_with(once.substr(0, gap)) && whole.ends_with(once.substr(gap + 3))) << whole;
    }
  }
}

TEST(Text, aMessageOfTheRuntime) {
  tutti_error_t error;
  fail(&error, TUTTI_NOT_FOUND, "there is no input '%s'", "a\nb\x1b[2J\xe9 Größe");
  EXPECT_STREQ(error.message, "there is no input 'a?b?[2J? Größe'");
  std::mt19937 random(2);
  for (size_t bytes = 1; bytes < 1200; ++bytes) {
    fail(&error, TUTTI_NOT_FOUND, "%s", randomBytes(random, bytes).c_str());
    expectText(error.message);
  }
}

} // namespace
