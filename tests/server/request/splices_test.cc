#include "server/request/splices.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

// The bytes from `begin` on, and in brackets those of splices.
std::string Cut(const Splices& splices, const std::string& text, size_t begin, size_t count) {
  std::string cut;
  splices.ForEach(text, begin, count, [&cut](absl::string_view piece, bool is_splice) {
    cut += is_splice ? "[" : "";
    cut.append(piece.data(), piece.size());
    cut += is_splice ? "]" : "";
  });
  return cut;
}

std::string Plain(std::string text) {
  std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
  return text;
}

TEST(SplicesTest, StandBetweenTheBytesOfTheText) {
  Splices splices;
  EXPECT_TRUE(splices.empty());
  EXPECT_EQ(Cut(splices, "ab", 0, 2), "ab");
  splices.Add(1, "XY");
  splices.Add(1, "Z");
  splices.Add(3, "Q");
  EXPECT_FALSE(splices.empty());
  EXPECT_EQ(splices.bytes(), 4U);
  EXPECT_EQ(Cut(splices, "abc", 0, 7), "a[XY][Z]bc[Q]");
}

TEST(SplicesTest, EveryCutHasItsBytes) {
  const std::string text = "abcd";
  Splices splices;
  splices.Add(0, "12");
  splices.Add(2, "345");
  splices.Add(4, "6");
  const std::string whole = "12ab345cd6";
  for (size_t begin = 0; begin <= whole.size(); ++begin) {
    for (size_t count = 0; count <= whole.size() - begin; ++count) {
      EXPECT_EQ(Plain(Cut(splices, text, begin, count)), whole.substr(begin, count));
    }
  }
}

}  // namespace
}  // namespace mpsd
