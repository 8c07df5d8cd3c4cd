#include "server/wire/contents_size.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "proto/inference.pb.h"

namespace mpsd {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;

constexpr int kElements = 1000;

class ContentsSizeTest : public testing::Test {
 protected:
  ContentsSize Measured() const { return MeasureContents(request_.SerializeAsString()); }

  ModelInferRequest request_;
  InferTensorContents* contents_ = request_.add_inputs()->mutable_contents();
};

// Fills the field with so many elements of the fewest bytes that there are.
void Fill(const google::protobuf::FieldDescriptor* field, InferTensorContents* contents) {
  using Field = google::protobuf::FieldDescriptor;
  const auto* reflection = contents->GetReflection();
  for (int i = 0; i < kElements; ++i) {
    switch (field->cpp_type()) {
      case Field::CPPTYPE_BOOL:
        reflection->AddBool(contents, field, false);
        break;
      case Field::CPPTYPE_INT32:
        reflection->AddInt32(contents, field, 0);
        break;
      case Field::CPPTYPE_INT64:
        reflection->AddInt64(contents, field, 0);
        break;
      case Field::CPPTYPE_UINT32:
        reflection->AddUInt32(contents, field, 0);
        break;
      case Field::CPPTYPE_UINT64:
        reflection->AddUInt64(contents, field, 0);
        break;
      case Field::CPPTYPE_FLOAT:
        reflection->AddFloat(contents, field, 0);
        break;
      case Field::CPPTYPE_DOUBLE:
        reflection->AddDouble(contents, field, 0);
        break;
      default:
        reflection->AddString(contents, field, "");
    }
  }
}

TEST_F(ContentsSizeTest, NoFieldTakesMoreThanIsSaid) {
  const auto* descriptor = InferTensorContents::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    contents_->Clear();
    Fill(descriptor->field(i), contents_);
    InferTensorContents parsed;
    ASSERT_TRUE(parsed.ParseFromString(contents_->SerializeAsString()));
    const uint64_t said = Measured().parsed_bytes;
    // Lists grow to twice what they need.
    EXPECT_LE(parsed.SpaceUsedLong() - sizeof(parsed), 2 * said + 64)
        << descriptor->field(i)->name();
    EXPECT_GE(said, uint64_t{kElements}) << descriptor->field(i)->name();
  }
}

TEST_F(ContentsSizeTest, NumbersOfFixedSizeTakeTheirBytes) {
  for (int i = 0; i < kElements; ++i) contents_->add_fp32_contents(1);
  EXPECT_EQ(Measured().wire_bytes, 3 + 4U * kElements) << "a tag and a length once";
  EXPECT_EQ(Measured().parsed_bytes, 4U * kElements);
}

TEST_F(ContentsSizeTest, NumbersOfVaryingSizeAreCounted) {
  for (int i = 0; i < kElements; ++i) contents_->add_int64_contents(i % 2 == 0 ? 0 : 1 << 20);
  EXPECT_EQ(Measured().wire_bytes, 3 + kElements / 2 + 3U * kElements / 2);
  EXPECT_EQ(Measured().parsed_bytes, 8U * kElements);
}

TEST_F(ContentsSizeTest, NumbersThatAreNotPackedCountToo) {
  // Twice int64_contents: 7 and int64_contents: 300, each with a tag of its own.
  const std::string contents = "\x18\x07\x18\xac\x02";
  const ContentsSize size = MeasureContents(std::string("\x2a\x07\x2a\x05") + contents);
  EXPECT_EQ(size.wire_bytes, 5U);
  EXPECT_EQ(size.parsed_bytes, 32U) << "they may be of another type";
}

TEST_F(ContentsSizeTest, StringsTakeMoreThanTheirBytes) {
  contents_->add_bytes_contents(std::string(100, 'x'));
  contents_->add_bytes_contents("");
  EXPECT_EQ(Measured().wire_bytes, 104U) << "each with its tag and length";
  EXPECT_GE(Measured().parsed_bytes, 100 + 2 * sizeof(std::string));
}

TEST_F(ContentsSizeTest, AllInputsAddUpAndNothingElseDoes) {
  contents_->add_fp64_contents(1);
  request_.add_inputs()->mutable_contents()->add_bool_contents(true);
  const ContentsSize before = Measured();
  EXPECT_EQ(before.parsed_bytes, 9U);
  request_.set_id(std::string(1000, 'i'));
  request_.mutable_inputs(0)->set_name(std::string(1000, 'n'));
  for (int i = 0; i < 100; ++i) request_.mutable_inputs(1)->add_shape(i);
  (*request_.mutable_parameters())["p"].set_string_param(std::string(1000, 'p'));
  EXPECT_EQ(Measured().wire_bytes, before.wire_bytes);
  EXPECT_EQ(Measured().parsed_bytes, before.parsed_bytes);
}

TEST_F(ContentsSizeTest, WhatStandsBeforeAMistakeIsCounted) {
  contents_->add_fp64_contents(1);
  const std::string bytes = request_.SerializeAsString();
  EXPECT_EQ(MeasureContents(bytes + "\x2a\x7f").parsed_bytes, 8U);
  EXPECT_EQ(MeasureContents(bytes + "\x07").parsed_bytes, 8U);
  EXPECT_EQ(MeasureContents("\x07" + bytes).parsed_bytes, 0U);
  EXPECT_EQ(MeasureContents("").parsed_bytes, 0U);
}

}  // namespace
}  // namespace mpsd
