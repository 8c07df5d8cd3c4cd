#include "proto/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

TEST(CutAtCharacter, LeavesWhatFits) {
  EXPECT_EQ(CutAtCharacter("", 0), "");
  EXPECT_EQ(CutAtCharacter("abc", 3), "abc");
  EXPECT_EQ(CutAtCharacter("a€", 4), "a€");
}

TEST(CutAtCharacter, CutsBetweenBytesThatAreCharacters) {
  EXPECT_EQ(CutAtCharacter("abc", 2), "ab");
  EXPECT_EQ(CutAtCharacter("abc", 0), "");
}

TEST(CutAtCharacter, SplitsNoCharacter) {
  for (const size_t max : {1, 2, 3}) EXPECT_EQ(CutAtCharacter("a€b", max), "a") << max;
  EXPECT_EQ(CutAtCharacter("a€b", 4), "a€");
  for (const size_t max : {0, 1, 2, 3}) EXPECT_EQ(CutAtCharacter("😀", max), "") << max;
}

TEST(CutAtCharacter, EndsWhereNothingIsACharacter) {
  EXPECT_EQ(CutAtCharacter("\xff\xff\xff", 2), "\xff\xff");
  EXPECT_EQ(CutAtCharacter(std::string(9, '\x80'), 4), "") << "all of them go on";
}

}  // namespace
}  // namespace mpsd
