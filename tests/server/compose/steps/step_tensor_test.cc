#include "server/compose/steps/step_tensor.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fakes/fake_answer_memory.h"

namespace mpsd {
namespace {

AnswerOutput OutputOf(absl::string_view bytes, DataType datatype = DataType::kUint8) {
  AnswerOutput output;
  output.datatype = datatype;
  output.dims = {static_cast<int64_t>(bytes.size())};
  output.bytes = bytes;
  return output;
}

class StepTensorTest : public testing::Test {
 protected:
  absl::Status Hold(DataType datatype, bool is_fixed) {
    return tensor_.Hold(OutputOf(bytes_, datatype), &memory_, is_fixed, &copies_);
  }
  bool LiesInMemory() const { return tensor_.bytes().data() == bytes_.data(); }

  const std::string bytes_ = "bytes of a lease";
  FakeAnswerMemory memory_;
  ByteAllowance copies_{64};
  StepTensor tensor_;
};

TEST_F(StepTensorTest, StaysInTheAnswersMemoryUntilItIsDropped) {
  ASSERT_TRUE(Hold(DataType::kUint8, /*is_fixed=*/false).ok());
  EXPECT_TRUE(LiesInMemory());
  EXPECT_TRUE(tensor_.may_change());
  EXPECT_EQ(memory_.references, 1);
  EXPECT_EQ(copies_.taken_bytes(), 0u);
  tensor_.Drop();
  EXPECT_EQ(memory_.references, 0);
  EXPECT_EQ(tensor_.dims().size(), 1u) << "the shape is read after the bytes have gone";
}

TEST_F(StepTensorTest, IsCopiedWhereTooMuchIsPinned) {
  memory_.can_pin = false;
  ASSERT_TRUE(Hold(DataType::kUint8, /*is_fixed=*/false).ok());
  EXPECT_FALSE(LiesInMemory());
  EXPECT_EQ(tensor_.bytes(), bytes_);
  EXPECT_EQ(memory_.references, 0);
  EXPECT_EQ(copies_.taken_bytes(), bytes_.size());
  tensor_.Drop();
  EXPECT_EQ(copies_.taken_bytes(), 0u);
}

TEST_F(StepTensorTest, WhatMustNotChangeIsCopied) {
  ASSERT_TRUE(Hold(DataType::kUint8, /*is_fixed=*/true).ok());
  EXPECT_FALSE(LiesInMemory());
  EXPECT_FALSE(tensor_.may_change());
}

TEST_F(StepTensorTest, StringsAreCopied) {
  ASSERT_TRUE(Hold(DataType::kBytes, /*is_fixed=*/false).ok());
  EXPECT_FALSE(LiesInMemory());
}

TEST_F(StepTensorTest, IsCopiedWhereTheAnswerHasNoMemory) {
  ASSERT_TRUE(tensor_.Hold(OutputOf(bytes_), nullptr, /*is_fixed=*/false, &copies_).ok());
  EXPECT_FALSE(LiesInMemory());
  EXPECT_EQ(tensor_.payload().bytes, bytes_.size());
}

TEST_F(StepTensorTest, NoRoomForACopyIsARefusal) {
  ASSERT_TRUE(copies_.TryTake(60));
  EXPECT_EQ(Hold(DataType::kUint8, /*is_fixed=*/true).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(copies_.taken_bytes(), 60u);
}

TEST_F(StepTensorTest, AnEmptyTensor) {
  ASSERT_TRUE(tensor_.Hold(OutputOf(""), nullptr, /*is_fixed=*/false, &copies_).ok());
  EXPECT_EQ(tensor_.bytes(), "");
  tensor_.Drop();
}

TEST_F(StepTensorTest, ItsEndGivesEverythingBack) {
  {
    StepTensor held;
    ASSERT_TRUE(held.Hold(OutputOf(bytes_), &memory_, /*is_fixed=*/false, &copies_).ok());
    StepTensor copied;
    ASSERT_TRUE(copied.Hold(OutputOf(bytes_), &memory_, /*is_fixed=*/true, &copies_).ok());
  }
  EXPECT_EQ(memory_.references, 0);
  EXPECT_EQ(copies_.taken_bytes(), 0u);
}

}  // namespace
}  // namespace mpsd
