#include "server/texts/outer_spaces.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(OuterSpaces, AreThoseOfPython) {
  EXPECT_EQ(WithoutOuterSpaces(" \t\n\v\f\r\x1c\x1d\x1e\x1f\u0085\u00a0\u1680 a b \u2028\u3000"),
            "a b");
  EXPECT_EQ(WithoutOuterSpaces("\u2003 \u200a"), "");
  EXPECT_EQ(WithoutOuterSpaces(""), "");
}

TEST(OuterSpaces, OthersStay) {
  EXPECT_EQ(WithoutOuterSpaces("\u200b a\ufeff"), "\u200b a\ufeff");
  EXPECT_EQ(WithoutOuterSpaces("\x1b a\x7f"), "\x1b a\x7f");
  EXPECT_EQ(WithoutOuterSpaces("\xe2\x80 a \x80"), "\xe2\x80 a \x80");
}

}  // namespace
}  // namespace mpsd
