#include "client/output_check.h"

#include <gtest/gtest.h>

namespace mpsd::client {
namespace {

TEST(OutputCheck, BytesMakeUpDatatypeAndShape) {
  EXPECT_EQ(CheckOutput({"y", DataType::kFp16, {2, 3}, std::string(12, 'x')}, "FP16"),
            absl::OkStatus());
  EXPECT_EQ(CheckOutput({"y", DataType::kInt8, {0}, ""}, "INT8"), absl::OkStatus());
  EXPECT_EQ(CheckOutput({"y", DataType::kFp16, {2, 3}, std::string(11, 'x')}, "FP16"),
            absl::InternalError("the answer's output 'y' is FP16[2,3] in 11 bytes"));
  EXPECT_EQ(CheckOutput({"y", DataType::kInt8, {-1}, "x"}, "INT8"),
            absl::InternalError("the answer's output 'y' is INT8[-1] in 1 bytes"));
}

TEST(OutputCheck, ARegionHoldsThemInstead) {
  EXPECT_EQ(CheckOutput({"y", DataType::kFp32, {2}, "", {"region", 0, 8}}, "FP32"),
            absl::OkStatus());
  EXPECT_EQ(CheckOutput({"y", DataType::kFp32, {2}, "", {"region", 0, 9}}, "FP32"),
            absl::InternalError("the answer's output 'y' is FP32[2] in 9 bytes"));
}

TEST(OutputCheck, StringsMayHaveAnyLength) {
  EXPECT_EQ(CheckOutput({"y", DataType::kBytes, {2}, "x"}, "BYTES"), absl::OkStatus());
}

TEST(OutputCheck, AnUnknownDatatypeIsNamedAsItCame) {
  EXPECT_EQ(CheckOutput({"y", DataType::kInvalid, {}, ""}, "fp32"),
            absl::InternalError("the answer's output 'y' is of unknown datatype 'fp32'"));
}

}  // namespace
}  // namespace mpsd::client
