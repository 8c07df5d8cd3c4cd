#include "text/normalize/precompiled.h"

#include <gtest/gtest.h>

#include <map>

namespace mpsd::text {
namespace {

// A charsmap whose keys are single bytes and replace what begins with them.
std::string Charsmap(const std::map<char, std::string>& table) {
  std::vector<uint32_t> units(1024);
  std::string replacements;
  units[0] = 256 << 10;
  for (const auto& [byte, replacement] : table) {
    const auto label = static_cast<uint8_t>(byte);
    units[256 ^ label] = label | 1 << 8 | 512 << 10;
    units[256 ^ label ^ 512] = 1U << 31 | static_cast<uint32_t>(replacements.size());
    replacements += replacement + '\0';
  }
  const auto bytes = static_cast<uint32_t>(units.size() * sizeof(uint32_t));
  return std::string(reinterpret_cast<const char*>(&bytes), sizeof(bytes)) +
         std::string(reinterpret_cast<const char*>(units.data()), bytes) + replacements;
}

std::string Normalized(const std::map<char, std::string>& table, absl::string_view text) {
  const auto precompiled = Precompiled::Make(Charsmap(table));
  std::string normalized;
  EXPECT_TRUE(precompiled.ok() && precompiled->Append(text, SIZE_MAX, &normalized));
  return normalized;
}

TEST(Precompiled, ReplacesAndKeeps) {
  EXPECT_EQ(Normalized({{'a', "AA"}, {'x', ""}}, "baxbx"), "bAAb");
  EXPECT_EQ(Normalized({}, "abc"), "abc");
}

TEST(Precompiled, ReplacesAShortGraphemeByTheShortestKeyItBeginsWith) {
  EXPECT_EQ(Normalized({{'e', "E"}}, "e\u0301e\u0301\u0301"), "EE");
}

TEST(Precompiled, TakesAGraphemeOfSixBytesApart) {
  EXPECT_EQ(Normalized({{'e', "E"}}, "e\u0301\u20d0"), "E\u0301\u20d0");
}

TEST(Precompiled, KeepsWhatATrieSaysThatLeadsNowhere) {
  std::string charsmap = Charsmap({{'a', "A"}});
  for (const uint32_t wild : {~uint32_t{0}, uint32_t{'a'} | 1 << 8 | 0x3FFFFFU << 10}) {
    charsmap.replace(4 + 4 * (256 ^ 'a'), 4, reinterpret_cast<const char*>(&wild), 4);
    const auto precompiled = Precompiled::Make(charsmap).value();
    std::string normalized;
    EXPECT_TRUE(precompiled.Append("aa", SIZE_MAX, &normalized));
    EXPECT_EQ(normalized, "aa");
  }
}

TEST(Precompiled, KeepsAByteWhoseReplacementIsHalfACharacter) {
  std::string charsmap = Charsmap({{'a', "\u00e9"}});
  const uint32_t second_byte = 1U << 31 | 1;
  charsmap.replace(4 + 4 * (256 ^ 'a' ^ 512), 4, reinterpret_cast<const char*>(&second_byte), 4);
  const auto precompiled = Precompiled::Make(charsmap).value();
  std::string normalized;
  EXPECT_TRUE(precompiled.Append("ab", SIZE_MAX, &normalized));
  EXPECT_EQ(normalized, "ab");
}

TEST(Precompiled, StopsAtTheBound) {
  const auto precompiled = Precompiled::Make(Charsmap({{'a', std::string(100, 'b')}})).value();
  std::string normalized;
  EXPECT_FALSE(precompiled.Append(std::string(50, 'a'), 250, &normalized));
  EXPECT_EQ(normalized.size(), 300U);
  normalized.clear();
  std::string grapheme = "a";  // with 50 marks
  for (int i = 0; i < 50; ++i) grapheme += "\u0301";
  EXPECT_FALSE(precompiled.Append(grapheme, 120, &normalized));
  EXPECT_LE(normalized.size(), 122U);
}

TEST(Precompiled, RefusesALongReplacement) {
  EXPECT_TRUE(Precompiled::Make(Charsmap({{'a', std::string(256, 'b')}})).ok());
  EXPECT_EQ(Precompiled::Make(Charsmap({{'a', std::string(257, 'b')}})).status().message(),
            "a replacement of the charsmap has more than 256 bytes");
}

TEST(Precompiled, RefusesACharsmapOfAWrongSize) {
  EXPECT_EQ(Precompiled::Make(absl::string_view("\6\0\0\0abcdefgh", 12)).status().message(),
            "the charsmap's trie has a wrong size")
      << "six bytes are no units";
  EXPECT_EQ(Precompiled::Make("abc").status().message(), "the charsmap has no trie");
  EXPECT_EQ(Precompiled::Make("abcdefgh").status().message(),
            "the charsmap's trie has a wrong size");
  EXPECT_EQ(Precompiled::Make(Charsmap({{'a', "\xFF"}})).status().message(),
            "the charsmap's replacements are no UTF-8");
}

}  // namespace
}  // namespace mpsd::text
