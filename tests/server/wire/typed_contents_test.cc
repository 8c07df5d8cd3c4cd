#include "server/wire/typed_contents.h"

#include <gtest/gtest.h>

#include <vector>

namespace mpsd {
namespace {

using inference::InferTensorContents;
using Input = inference::ModelInferRequest::InferInputTensor;

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

TEST(TypedContents, HalfPrecisionIsRawOnly) {
  for (const char* datatype : {"FP16", "BF16", "nonsense"}) {
    Input input = InputOf(datatype);
    input.mutable_contents()->add_fp32_contents(1);
    EXPECT_EQ(TypedContents(input).status(), absl::InvalidArgumentError("FP32")) << datatype;
  }
}

}  // namespace
}  // namespace mpsd
