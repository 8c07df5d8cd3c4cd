#include "worker/execute/answer_agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace mpsd {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kEndless = std::numeric_limits<float>::infinity();

ModelSpec OneOutput(Dims dims) {
  ModelSpec spec;
  spec.max_batch_size = 4;
  spec.outputs = {{"y", DataType::kFp32, std::move(dims)}};
  return spec;
}

// An output of these floats, in `rows` rows.
KeptOutputs Kept(const std::vector<float>& numbers) {
  KeptOutputs kept;
  const int64_t count[] = {static_cast<int64_t>(numbers.size())};
  std::memcpy(kept.Add(DataType::kFp32, count), numbers.data(), numbers.size() * sizeof(float));
  return kept;
}

Agreement Compare(const std::vector<float>& fp32, const std::vector<float>& given,
                  uint32_t rows = 1) {
  return CompareAnswers(OneOutput({-1}), rows, Kept(fp32), Kept(given)).at(0);
}

TEST(AnswerAgreement, EqualAnswersAgree) {
  const Agreement agreement = Compare({1, 2, 3, 4}, {1, 2, 3, 4}, 2);
  EXPECT_EQ(agreement.output, "y");
  EXPECT_DOUBLE_EQ(agreement.cosine, 1);
  EXPECT_EQ(agreement.relative_error, 0);
  EXPECT_EQ(agreement.compared, 4u);
  EXPECT_TRUE(agreement.is_alike);
  EXPECT_TRUE(agreement.same_finite);
}

TEST(AnswerAgreement, TheCosineIsThatOfTheWorstRow) {
  EXPECT_NEAR(Compare({100, 0, 1, 0}, {100, 0, 1, 1}, 2).cosine, std::sqrt(0.5), 1e-9);
  EXPECT_GT(Compare({100, 0, 1, 0}, {100, 0, 1, 1}, 1).cosine, 0.9999);
}

TEST(AnswerAgreement, RowsOfOneNumberHaveOneCosineTogether) {
  EXPECT_LT(Compare({1, -2, 3}, {1, 2, 3}, 3).cosine, 0.5);
  EXPECT_DOUBLE_EQ(Compare({1, 2, 4}, {2, 4, 8}, 3).cosine, 1);
}

TEST(AnswerAgreement, TheErrorIsRelativeToTheLargestNumber) {
  EXPECT_NEAR(Compare({0.5F, -8}, {0.25F, -8}).relative_error, 0.25 / 8, 1e-9);
}

TEST(AnswerAgreement, ZerosPointTheSameWayAsZerosAlone) {
  EXPECT_EQ(Compare({0, 0}, {0, 0}).cosine, 1);
  EXPECT_EQ(Compare({1, 0}, {0, 0}).cosine, 0);
  EXPECT_EQ(Compare({0, 0}, {1, 0}).cosine, 0);
}

TEST(AnswerAgreement, WhatIsNoNumberInBothIsLeftOut) {
  const Agreement agreement = Compare({kNoNumber, 2, kEndless}, {kEndless, 2, kEndless});
  EXPECT_TRUE(agreement.same_finite);
  EXPECT_EQ(agreement.compared, 1u);
  EXPECT_DOUBLE_EQ(agreement.cosine, 1);
}

TEST(AnswerAgreement, ANumberThatIsLostIsAFault) {
  EXPECT_FALSE(Compare({1, 2}, {1, kEndless}).same_finite);
  EXPECT_FALSE(Compare({1, kNoNumber}, {1, 2}).same_finite);
}

TEST(AnswerAgreement, OtherSizesAreOtherAnswers) {
  EXPECT_FALSE(Compare({1, 2}, {1}).is_alike);
  KeptOutputs nothing;
  EXPECT_FALSE(CompareAnswers(OneOutput({2}), 1, Kept({1, 2}), nothing).at(0).is_alike);
}

TEST(AnswerAgreement, IntegersMustBeEqual) {
  ModelSpec spec = OneOutput({2});
  spec.outputs[0].datatype = DataType::kInt32;
  const auto kept = [](int32_t number) {
    KeptOutputs outputs;
    const int64_t count[] = {1};
    std::memcpy(outputs.Add(DataType::kInt32, count), &number, sizeof(number));
    return outputs;
  };
  EXPECT_TRUE(CompareAnswers(spec, 1, kept(7), kept(7)).at(0).is_alike);
  EXPECT_FALSE(CompareAnswers(spec, 1, kept(7), kept(8)).at(0).is_alike);
}

TEST(AnswerAgreement, RowsThatFailInBothAreLeftOut) {
  KeptOutputs fp32 = Kept({1, 2, 3, 4});
  KeptOutputs given = Kept({9, 9, 3, 4});
  fp32.FailRow(0, "no");
  EXPECT_FALSE(CompareAnswers(OneOutput({2}), 2, fp32, given).at(0).is_alike);
  given.FailRow(0, "no");
  const Agreement agreement = CompareAnswers(OneOutput({2}), 2, fp32, given).at(0);
  EXPECT_DOUBLE_EQ(agreement.cosine, 1);
  EXPECT_EQ(agreement.compared, 2u);
}

}  // namespace
}  // namespace mpsd
