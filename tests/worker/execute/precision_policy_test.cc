#include "worker/execute/precision_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PrecisionPolicy, CudaTriesTheCoarsestFirst) {
  EXPECT_THAT(PrecisionCandidates({.device = "cuda:1"}),
              ElementsAre(Precision::kBf16, Precision::kTf32));
}

TEST(PrecisionPolicy, HalfIsTriedWithRealDataAlone) {
  EXPECT_THAT(PrecisionCandidates({.device = "cuda:0", .samples_are_real = true}),
              ElementsAre(Precision::kBf16, Precision::kFp16, Precision::kTf32));
  EXPECT_THAT(PrecisionCandidates({.device = "mps", .samples_are_real = true}),
              ElementsAre(Precision::kBf16, Precision::kFp16));
}

TEST(PrecisionPolicy, AModelThatWasSavedInHalfTriesItFirst) {
  EXPECT_THAT(PrecisionCandidates({.device = "cuda:0", .saved_in_fp16 = true}),
              ElementsAre(Precision::kFp16, Precision::kBf16, Precision::kTf32));
  EXPECT_THAT(
      PrecisionCandidates({.device = "mps", .samples_are_real = true, .saved_in_fp16 = true}),
      ElementsAre(Precision::kFp16, Precision::kBf16));
}

TEST(PrecisionPolicy, ACpuNeedsUnitsForBf16) {
  EXPECT_THAT(PrecisionCandidates({.device = "cpu", .samples_are_real = true}), IsEmpty());
  EXPECT_THAT(PrecisionCandidates({.device = "cpu", .cpu_has_bf16 = true}),
              ElementsAre(Precision::kBf16));
  EXPECT_THAT(PrecisionCandidates({.device = "xpu", .cpu_has_bf16 = true}), IsEmpty());
}

TEST(PrecisionPolicy, AnswersAtTheBoundsAreTaken) {
  Agreement agreement;
  agreement.cosine = kLeastCosine;
  agreement.relative_error = kMostRelativeError;
  EXPECT_EQ(AgreementFault(agreement), "");
}

TEST(PrecisionPolicy, Int8HasBoundsOfItsOwn) {
  Agreement agreement;
  agreement.cosine = 0.99;
  agreement.relative_error = 0.1;
  EXPECT_EQ(AgreementFault(agreement, kInt8Bounds), "");
  EXPECT_THAT(AgreementFault(agreement), HasSubstr("below 0.9995"));
  agreement.cosine = 0.9899;
  EXPECT_THAT(AgreementFault(agreement, kInt8Bounds), HasSubstr("below 0.9900"));
  agreement.cosine = 1;
  agreement.relative_error = 0.11;
  EXPECT_THAT(AgreementFault(agreement, kInt8Bounds), HasSubstr("more than 0.1"));
}

TEST(PrecisionPolicy, EachBoundIsNamedWithItsOutput) {
  Agreement agreement;
  agreement.output = "y";
  agreement.cosine = kLeastCosine - 1e-5;
  EXPECT_EQ(AgreementFault(agreement), "its cosine to fp32 is 0.99949 in output 'y', below 0.9995");
  agreement.cosine = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(AgreementFault(agreement), HasSubstr("cosine"));
  agreement.cosine = 1;
  agreement.relative_error = 0.03;
  EXPECT_EQ(AgreementFault(agreement),
            "it differs from fp32 by 0.03 of the largest number in output 'y', more than 0.02");
  agreement.is_alike = false;
  EXPECT_EQ(AgreementFault(agreement), "it gives another answer in output 'y'");
  agreement.same_finite = false;
  EXPECT_EQ(AgreementFault(agreement), "it gives no finite numbers in output 'y'");
}

TEST(PrecisionPolicy, AFifthFasterIsTheLeast) {
  EXPECT_EQ(GainFault(1'200'000, 1'000'000), "");
  EXPECT_EQ(GainFault(1'190'000, 1'000'000), "it takes 1 ms where fp32 takes 1.19 ms");
}

}  // namespace
}  // namespace mpsd
