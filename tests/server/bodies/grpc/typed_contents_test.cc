#include "server/bodies/grpc/typed_contents.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/inference.pb.h"

namespace mpsd {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;
using Input = ModelInferRequest::InferInputTensor;

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

Input InputOf(const std::string& datatype) {
  Input input;
  input.set_datatype(datatype);
  return input;
}

template <typename T>
std::string BytesOf(const std::vector<T>& elements) {
  return std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

TEST(TypedContents, Bool) {
  Input input = InputOf("BOOL");
  for (const bool element : {true, false, true})
    input.mutable_contents()->add_bool_contents(element);
  EXPECT_EQ(*TypedContents(input), std::string("\1\0\1", 3));
}

TEST(TypedContents, SignedIntegersOfUpTo32Bits) {
  Input input = InputOf("INT8");
  for (const int element : {-128, 127}) input.mutable_contents()->add_int_contents(element);
  EXPECT_EQ(*TypedContents(input), BytesOf<int8_t>({-128, 127}));
  input.set_datatype("INT16");
  EXPECT_EQ(*TypedContents(input), BytesOf<int16_t>({-128, 127}));
  input.set_datatype("INT32");
  EXPECT_EQ(*TypedContents(input), BytesOf<int32_t>({-128, 127}));
}

TEST(TypedContents, UnsignedIntegersOfUpTo32Bits) {
  Input input = InputOf("UINT8");
  for (const uint32_t element : {0u, 255u}) input.mutable_contents()->add_uint_contents(element);
  EXPECT_EQ(*TypedContents(input), BytesOf<uint8_t>({0, 255}));
  input.set_datatype("UINT16");
  EXPECT_EQ(*TypedContents(input), BytesOf<uint16_t>({0, 255}));
  input.set_datatype("UINT32");
  EXPECT_EQ(*TypedContents(input), BytesOf<uint32_t>({0, 255}));
}

TEST(TypedContents, IntegersOf64Bits) {
  Input input = InputOf("INT64");
  input.mutable_contents()->add_int64_contents(INT64_MIN);
  EXPECT_EQ(*TypedContents(input), BytesOf<int64_t>({INT64_MIN}));
  Input other = InputOf("UINT64");
  other.mutable_contents()->add_uint64_contents(UINT64_MAX);
  EXPECT_EQ(*TypedContents(other), BytesOf<uint64_t>({UINT64_MAX}));
}

TEST(TypedContents, FloatsBitForBit) {
  Input input = InputOf("FP32");
  for (const float element : {-0.0f, 1e-45f}) input.mutable_contents()->add_fp32_contents(element);
  EXPECT_EQ(*TypedContents(input), BytesOf<float>({-0.0f, 1e-45f}));
  Input other = InputOf("FP64");
  other.mutable_contents()->add_fp64_contents(0.1);
  EXPECT_EQ(*TypedContents(other), BytesOf<double>({0.1}));
}

TEST(TypedContents, BytesCarryTheirLength) {
  Input input = InputOf("BYTES");
  for (const char* element : {"ab", "", "c"}) input.mutable_contents()->add_bytes_contents(element);
  EXPECT_EQ(*TypedContents(input), std::string("\2\0\0\0ab\0\0\0\0\1\0\0\0c", 15));
}

TEST(TypedContents, NoElementIsNoData) {
  EXPECT_TRUE(absl::IsNotFound(TypedContents(InputOf("FP32")).status()));
  Input input = InputOf("FP32");
  input.mutable_contents();
  EXPECT_TRUE(absl::IsNotFound(TypedContents(input).status()));
}

TEST(TypedContents, AWrongFieldIsNamed) {
  struct Case {
    const char* filled;
    void (*fill)(InferTensorContents*);
  };
  const Case cases[] = {
      {"BOOL", [](InferTensorContents* contents) { contents->add_bool_contents(true); }},
      {"INT32", [](InferTensorContents* contents) { contents->add_int_contents(1); }},
      {"INT64", [](InferTensorContents* contents) { contents->add_int64_contents(1); }},
      {"UINT32", [](InferTensorContents* contents) { contents->add_uint_contents(1); }},
      {"UINT64", [](InferTensorContents* contents) { contents->add_uint64_contents(1); }},
      {"FP32", [](InferTensorContents* contents) { contents->add_fp32_contents(1); }},
      {"FP64", [](InferTensorContents* contents) { contents->add_fp64_contents(1); }},
      {"BYTES", [](InferTensorContents* contents) { contents->add_bytes_contents("x"); }},
  };
  for (const Case& each : cases) {
    for (const Case& other : cases) {
      Input input = InputOf(each.filled);
      other.fill(input.mutable_contents());
      const absl::Status status = TypedContents(input).status();
      if (&each == &other) {
        EXPECT_TRUE(status.ok()) << each.filled;
      } else {
        EXPECT_EQ(status, absl::InvalidArgumentError(other.filled)) << each.filled;
      }
    }
  }
}

TEST(TypedContents, ASecondFieldIsNamedThoughTheFirstIsTheRightOne) {
  for (const char* datatype : {"INT8", "INT16", "INT32"}) {
    Input input = InputOf(datatype);
    input.mutable_contents()->add_int_contents(1);
    EXPECT_TRUE(TypedContents(input).ok()) << datatype;
    input.mutable_contents()->add_bytes_contents("x");
    EXPECT_EQ(TypedContents(input).status(), absl::InvalidArgumentError("BYTES")) << datatype;
    input.mutable_contents()->add_bool_contents(true);
    EXPECT_EQ(TypedContents(input).status(), absl::InvalidArgumentError("BOOL")) << datatype;
  }
}

TEST(TypedContents, HalfPrecisionIsRawOnly) {
  for (const char* datatype : {"FP16", "BF16", "nonsense"}) {
    Input input = InputOf(datatype);
    input.mutable_contents()->add_fp32_contents(1);
    EXPECT_EQ(TypedContents(input).status(), absl::InvalidArgumentError("FP32")) << datatype;
  }
}

}  // namespace

}  // namespace mpsd
