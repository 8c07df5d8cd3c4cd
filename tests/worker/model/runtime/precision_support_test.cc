#include "worker/model/runtime/precision_support.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(PrecisionSupport, Tf32IsOfCudaAlone) {
  EXPECT_TRUE(CheckPrecisionThere(Precision::kTf32, "cuda:1").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckPrecisionThere(Precision::kTf32, "mps:0")));
  EXPECT_EQ(CheckPrecisionThere(Precision::kTf32, "cpu").message(),
            "precision 'tf32' is of cuda devices alone, and the model's device is cpu; 'fp32' is "
            "finer, and 'auto' takes what the device has");
}

TEST(PrecisionSupport, Int8IsOfCpusAlone) {
  EXPECT_TRUE(CheckPrecisionThere(Precision::kInt8, "cpu").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckPrecisionThere(Precision::kInt8, "mps:0")));
  EXPECT_EQ(CheckPrecisionThere(Precision::kInt8, "cuda:0").message(),
            "precision 'int8' is of cpus alone, and the model's device is cuda:0; 'fp16' and "
            "'bf16' are finer, and 'auto' takes what the device has");
}

TEST(PrecisionSupport, AllOthersComputeEverywhere) {
  for (const Precision precision :
       {Precision::kAsSaved, Precision::kFp32, Precision::kBf16, Precision::kFp16}) {
    EXPECT_TRUE(CheckPrecisionThere(precision, "cpu").ok());
    EXPECT_TRUE(CheckPrecisionThere(precision, "cuda:0").ok());
    EXPECT_TRUE(CheckPrecisionThere(precision, "mps:0").ok());
  }
}

}  // namespace
}  // namespace mpsd
