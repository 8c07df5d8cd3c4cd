#include "server/bodies/json/raw_body.h"

#include <gmock/gmock.h>

#include <string>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class RawBodyTest : public testing::Test {
 protected:
  absl::Status Read(const std::string& body) {
    message_.model = "m";
    return ReadRawBody(body, spec_, 1 << 20, &message_, &request_);
  }

  ModelSpec spec_;
  InferBody request_;
  InferMessage message_;
};

TEST_F(RawBodyTest, IsTheOnlyInput) {
  spec_.inputs = {{"image", DataType::kFp32, {-1, 2}}};
  ASSERT_TRUE(Read(std::string(24, 'x')).ok());
  ASSERT_THAT(message_.inputs, SizeIs(1));
  EXPECT_EQ(message_.inputs[0].name, "image");
  EXPECT_EQ(message_.inputs[0].datatype, "FP32");
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(3, 2));
  EXPECT_THAT(message_.inputs[0].payload.pieces, ElementsAre(std::string(24, 'x')));
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_TRUE(request_.WantsBinary("any"));
  spec_.max_batch_size = 4;
  ASSERT_TRUE(Read(std::string(24, 'x')).ok());
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(1, 3, 2));
}

TEST_F(RawBodyTest, ATextGetsItsLength) {
  spec_.inputs = {{"text", DataType::kBytes, {1}}};
  ASSERT_TRUE(Read("hi").ok());
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(1));
  EXPECT_THAT(message_.inputs[0].payload.pieces, ElementsAre(std::string("\2\0\0\0", 4), "hi"));
  EXPECT_EQ(message_.inputs[0].payload.bytes, 6u);
}

TEST_F(RawBodyTest, TwoOpenDimsAreNotGuessed) {
  for (const DataType datatype : {DataType::kFp32, DataType::kBytes}) {
    for (const uint32_t max_batch_size : {0, 4}) {
      spec_.inputs = {{"image", datatype, {-1, 2, -1}}};
      spec_.max_batch_size = max_batch_size;
      EXPECT_EQ(Read(std::string(24, 'x')),
                absl::InvalidArgumentError(
                    "The shape of the raw input 'image' can not be deduced because there are more "
                    "than one variable-sized dimension"));
    }
  }
  spec_.inputs = {{"image", DataType::kFp32, {-1, 2, 2}}};
  ASSERT_TRUE(Read(std::string(32, 'x')).ok());
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(1, 2, 2, 2));
}

TEST_F(RawBodyTest, WhatFitsNoShapeIsRefused) {
  spec_.inputs = {{"image", DataType::kFp32, {-1, 2}}};
  for (const size_t bytes : {0, 1, 4, 12, 25}) {
    const absl::Status status = Read(std::string(bytes, 'x'));
    // Nothing is a tensor without rows.
    EXPECT_EQ(status.ok(), bytes == 0) << bytes;
  }
  spec_.inputs.push_back({"more", DataType::kFp32, {1}});
  EXPECT_THAT(std::string(Read("1234").message()),
              HasSubstr("Raw request must only have 1 input (found 1) to be deduced but got 2"));
}

}  // namespace
}  // namespace mpsd
