#include "text/normalize/simple_normalizers.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd::text {
namespace {

std::string NormalForm(const Normalizer& normalizer, absl::string_view text) {
  std::string normalized;
  EXPECT_TRUE(normalizer.Append(text, SIZE_MAX, &normalized));
  return normalized;
}

TEST(ReplaceNormalizer, ReplacesATextOrRunsOfIt) {
  EXPECT_EQ(NormalForm(ReplaceNormalizer("''", false, "\""), "a'''b''"), "a\"'b\"");
  EXPECT_EQ(NormalForm(ReplaceNormalizer(" ", true, "_"), "a b  c    d "), "a b_c_d ");
}

TEST(StripNormalizer, DropsTheSpacesOfTheSidesItIsFor) {
  EXPECT_EQ(NormalForm(StripNormalizer(true, true), "\u3000 a b\n"), "a b");
  EXPECT_EQ(NormalForm(StripNormalizer(false, true), " a \u00a0"), " a");
  EXPECT_EQ(NormalForm(StripNormalizer(true, true), " \t"), "");
}

TEST(PrependNormalizer, LeavesAnEmptyTextEmpty) {
  EXPECT_EQ(NormalForm(PrependNormalizer("_"), "a"), "_a");
  EXPECT_EQ(NormalForm(PrependNormalizer("_"), ""), "");
}

TEST(NormalizerSequence, EndsAtTheStepThatMakesATextTooLong) {
  std::vector<std::unique_ptr<Normalizer>> steps;
  for (int i = 0; i < 40; ++i) {
    steps.push_back(std::make_unique<ReplaceNormalizer>("a", false, "aa"));
  }
  const NormalizerSequence sequence(std::move(steps));
  std::string normalized;
  EXPECT_FALSE(sequence.Append("a", 1000, &normalized));
  EXPECT_TRUE(sequence.Append("b", 1000, &normalized));
  EXPECT_EQ(normalized, "b");
}

TEST(ReplaceNormalizer, StopsAtTheBound) {
  std::string normalized;
  const std::string content(100, 'b');
  EXPECT_FALSE(
      ReplaceNormalizer("a", false, content).Append(std::string(50, 'a'), 250, &normalized));
  EXPECT_EQ(normalized.size(), 300U);
}

TEST(LowercaseNormalizer, KnowsNoFinalSigma) {
  EXPECT_EQ(NormalForm(LowercaseNormalizer(), "\u03a3\u0391\u03a3"), "\u03c3\u03b1\u03c3");
}

TEST(StripAccentsNormalizer, TakesNoCharacterApart) {
  EXPECT_EQ(NormalForm(StripAccentsNormalizer(), "e\u0301\u00e9"), "e\u00e9");
}

}  // namespace
}  // namespace mpsd::text
