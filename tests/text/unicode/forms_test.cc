#include "text/unicode/forms.h"

#include <gtest/gtest.h>

namespace mpsd::text {
namespace {

std::string In(Form form, absl::string_view text) {
  std::string normalized;
  AppendForm(form, text, &normalized);
  return normalized;
}

TEST(AppendForm, TakesCharactersApartAndTogether) {
  EXPECT_EQ(In(Form::kNfd, "\u00e9"), "e\u0301");
  EXPECT_EQ(In(Form::kNfc, "e\u0301"), "\u00e9");
  EXPECT_EQ(In(Form::kNfkd, "\ufb01"), "fi");
  EXPECT_EQ(In(Form::kNfc, "\ufb01"), "\ufb01");
  EXPECT_EQ(In(Form::kNfkc, "\uff25\u0301"), "\u00c9");
}

TEST(AppendForm, SortsMarksThatDoNotTouch) {
  EXPECT_EQ(In(Form::kNfd, "a\u0301\u0323"), "a\u0323\u0301");
  EXPECT_EQ(In(Form::kNfc, "a\u0301\u0323"), "\u1ea1\u0301");
}

TEST(AppendForm, KeepsAMarkApartThatAnotherOneOfItsOrderBars) {
  EXPECT_EQ(In(Form::kNfc, "a\u0315\u0301"), "\u00e1\u0315");
  EXPECT_EQ(In(Form::kNfc, "a\u0310\u0301"), "a\u0310\u0301");
}

TEST(AppendForm, FollowsTheRuleOfHangul) {
  EXPECT_EQ(In(Form::kNfd, "\ud55c"), "\u1112\u1161\u11ab");
  EXPECT_EQ(In(Form::kNfc, "\u1112\u1161\u11ab\u1112"), "\ud55c\u1112");
  EXPECT_EQ(In(Form::kNfd, "\uac00"), "\u1100\u1161");
}

}  // namespace
}  // namespace mpsd::text
