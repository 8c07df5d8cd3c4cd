#include "proto/base/json_bounds.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

TEST(JsonBounds, DepthIsThatOfBrackets) {
  EXPECT_EQ(CheckJsonBounds(R"([{"a":[]}])", 3, 100), JsonBound::kWithin);
  EXPECT_EQ(CheckJsonBounds(R"([{"a":[]}])", 2, 100), JsonBound::kTooDeep);
  EXPECT_EQ(CheckJsonBounds("[[],[],[]]", 2, 100), JsonBound::kWithin);
}

TEST(JsonBounds, ValuesAreCounted) {
  EXPECT_EQ(CheckJsonBounds("[1,2,3]", 9, 3), JsonBound::kWithin);
  EXPECT_EQ(CheckJsonBounds("[1,2,3]", 9, 2), JsonBound::kTooManyValues);
}

TEST(JsonBounds, TextsAreNotLookedInto) {
  EXPECT_EQ(CheckJsonBounds(R"(["[[[,,,\"[[[\\"])", 1, 1), JsonBound::kWithin);
  EXPECT_EQ(CheckJsonBounds(R"(["\\",[]])", 1, 100), JsonBound::kTooDeep);
}

TEST(JsonBounds, BracketsThatCloseNothingLeaveNoRoom) {
  EXPECT_EQ(CheckJsonBounds(std::string(9, ']') + "[[", 1, 100), JsonBound::kTooDeep);
}

}  // namespace
}  // namespace mpsd
