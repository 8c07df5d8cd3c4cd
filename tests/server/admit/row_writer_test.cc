#include "server/admit/row_writer.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace mpsd {
namespace {

using testing::ElementsAre;

// A payload in pieces that are cut at random points, empty ones included.
Payload Split(const std::string& bytes, std::mt19937& random) {
  Payload payload;
  for (size_t at = 0; at < bytes.size();) {
    const size_t step = std::min<size_t>(random() % 7, bytes.size() - at);
    payload.Append(absl::string_view(bytes).substr(at, step));
    at += step;
  }
  return payload;
}

template <typename T>
std::string BytesOf(const std::vector<T>& elements) {
  return std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

RequestInput InputOf(DataType datatype, Dims dims, Dims padded_dims) {
  RequestInput input{datatype, dims, padded_dims, 0};
  input.row_bytes = TensorBytes(datatype, padded_dims).value();
  return input;
}

// The rows of INT32 elements as they lie after WriteRows(), padded with `pad`.
std::vector<int32_t> Written(const std::vector<int32_t>& elements, const RequestInput& input,
                             uint32_t rows, int32_t pad) {
  std::mt19937 random(11);
  std::string bytes = BytesOf(elements);
  char element[8] = {};
  std::memcpy(element, &pad, sizeof(pad));
  std::vector<int32_t> target(rows * input.row_bytes / 4 + 1, 0x55555555);
  WriteRows(Split(bytes, random), input, rows, element, reinterpret_cast<char*>(target.data()));
  EXPECT_EQ(target.back(), 0x55555555) << "it wrote beyond its rows";
  target.pop_back();
  return target;
}

TEST(RowWriter, CopiesWhatIsNotPaddedAsItIs) {
  const RequestInput input = InputOf(DataType::kInt32, {2, 2}, {2, 2});
  EXPECT_THAT(Written({1, 2, 3, 4, 5, 6, 7, 8}, input, 2, 9), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(RowWriter, PadsEachRow) {
  const RequestInput input = InputOf(DataType::kInt32, {2}, {4});
  EXPECT_THAT(Written({1, 2, 3, 4}, input, 2, 9), ElementsAre(1, 2, 9, 9, 3, 4, 9, 9));
}

TEST(RowWriter, PadBytesOfZeroAreWrittenToo) {
  const RequestInput input = InputOf(DataType::kInt32, {1}, {3});
  EXPECT_THAT(Written({1}, input, 1, 0), ElementsAre(1, 0, 0));
}

TEST(RowWriter, PadsTheOuterOfTwoDims) {
  const RequestInput input = InputOf(DataType::kInt32, {1, 2}, {3, 2});
  EXPECT_THAT(Written({1, 2, 3, 4}, input, 2, 9), ElementsAre(1, 2, 9, 9, 9, 9, 3, 4, 9, 9, 9, 9));
}

TEST(RowWriter, PadsTheInnerOfTwoDims) {
  const RequestInput input = InputOf(DataType::kInt32, {2, 1}, {2, 3});
  EXPECT_THAT(Written({1, 2}, input, 1, 9), ElementsAre(1, 9, 9, 2, 9, 9));
}

TEST(RowWriter, PadsBothOfTwoDims) {
  const RequestInput input = InputOf(DataType::kInt32, {2, 1}, {3, 2});
  EXPECT_THAT(Written({1, 2}, input, 1, 9), ElementsAre(1, 9, 2, 9, 9, 9));
}

TEST(RowWriter, PadsAMiddleDim) {
  const RequestInput input = InputOf(DataType::kInt32, {2, 1, 2}, {2, 2, 2});
  EXPECT_THAT(Written({1, 2, 3, 4}, input, 1, 9), ElementsAre(1, 2, 9, 9, 3, 4, 9, 9));
}

TEST(RowWriter, ARowWithoutElementsIsAllPadding) {
  const RequestInput input = InputOf(DataType::kInt32, {0}, {2});
  EXPECT_THAT(Written({}, input, 2, 9), ElementsAre(9, 9, 9, 9));
  EXPECT_THAT(Written({}, InputOf(DataType::kInt32, {2, 0}, {2, 0}), 3, 9), ElementsAre());
}

// Against the definition: an element stands at its own index, everything else is padding.
TEST(RowWriter, IsRightForRandomDims) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Dims dims;
    Dims padded_dims;
    const size_t rank = 1 + random() % 4;
    for (size_t dim = 0; dim < rank; ++dim) {
      dims.push_back(static_cast<int64_t>(random() % 4));
      padded_dims.push_back(dims.back() + static_cast<int64_t>(random() % 3));
    }
    const uint32_t rows = 1 + random() % 3;
    const RequestInput input = InputOf(DataType::kInt32, dims, padded_dims);
    std::vector<int32_t> elements(*ElementCount(dims) * rows);
    std::iota(elements.begin(), elements.end(), 1);
    std::vector<int32_t> expected;
    auto next = elements.begin();
    const auto fill = [&](auto& self, size_t dim, bool inside) -> void {
      if (dim == rank) return expected.push_back(inside ? *next++ : -1);
      for (int64_t i = 0; i < padded_dims[dim]; ++i) self(self, dim + 1, inside && i < dims[dim]);
    };
    for (uint32_t row = 0; row < rows; ++row) fill(fill, 0, true);
    ASSERT_EQ(Written(elements, input, rows, -1), expected) << round;
  }
}

// ---- the pad element of each datatype ----

template <typename T>
T Encoded(DataType datatype, double value) {
  char element[8];
  std::memset(element, 0x55, sizeof(element));
  EncodeElement(datatype, value, element);
  T encoded;
  std::memcpy(&encoded, element, sizeof(encoded));
  for (size_t i = sizeof(T); i < sizeof(element); ++i) EXPECT_EQ(element[i], 0);
  return encoded;
}

TEST(EncodeElement, WritesEachDatatype) {
  EXPECT_EQ(Encoded<uint8_t>(DataType::kBool, 2), 1);
  EXPECT_EQ(Encoded<uint8_t>(DataType::kUint8, 255), 255);
  EXPECT_EQ(Encoded<uint16_t>(DataType::kUint16, 65535), 65535);
  EXPECT_EQ(Encoded<uint32_t>(DataType::kUint32, 4294967295.0), 4294967295u);
  EXPECT_EQ(Encoded<uint64_t>(DataType::kUint64, 1e15), 1'000'000'000'000'000u);
  EXPECT_EQ(Encoded<int8_t>(DataType::kInt8, -128), -128);
  EXPECT_EQ(Encoded<int16_t>(DataType::kInt16, -2), -2);
  EXPECT_EQ(Encoded<int32_t>(DataType::kInt32, -100), -100);
  EXPECT_EQ(Encoded<int64_t>(DataType::kInt64, -100), -100);
  EXPECT_EQ(Encoded<float>(DataType::kFp32, 0.5), 0.5f);
  EXPECT_EQ(Encoded<double>(DataType::kFp64, 0.1), 0.1);
}

TEST(EncodeElement, WritesHalfPrecision) {
  EXPECT_EQ(Encoded<uint16_t>(DataType::kFp16, 1), 0x3c00);
  EXPECT_EQ(Encoded<uint16_t>(DataType::kFp16, -2), 0xc000);
  EXPECT_EQ(Encoded<uint16_t>(DataType::kFp16, 65504), 0x7bff);
  EXPECT_EQ(Encoded<uint16_t>(DataType::kFp16, 1e6), 0x7c00);
  EXPECT_EQ(Encoded<uint16_t>(DataType::kFp16, -std::numeric_limits<double>::infinity()), 0xfc00);
  EXPECT_EQ(Encoded<uint16_t>(DataType::kFp16, 1 + 1.0 / 2048), 0x3c00) << "to the even one";
  EXPECT_EQ(Encoded<uint16_t>(DataType::kFp16, 1 + 3.0 / 2048), 0x3c02) << "to the even one";
  EXPECT_EQ(Encoded<uint16_t>(DataType::kFp16, 2047.9), 0x6800) << "into the next exponent";
}

TEST(EncodeElement, WritesBrainFloat) {
  EXPECT_EQ(Encoded<uint16_t>(DataType::kBf16, 1), 0x3f80);
  EXPECT_EQ(Encoded<uint16_t>(DataType::kBf16, -1.5), 0xbfc0);
}

TEST(PadElement, IsTheRulesValueInTheInputsDatatype) {
  ModelSpec spec;
  spec.inputs = {{"A", DataType::kInt64, {-1}}, {"B", DataType::kFp32, {-1}}};
  spec.pad = {{"B", 0, {8}, -1, {}}};
  char element[8];
  PadElement(spec, 0, element);
  EXPECT_EQ(std::string(element, 8), std::string(8, '\0'));
  PadElement(spec, 1, element);
  float value = 0;
  std::memcpy(&value, element, sizeof(value));
  EXPECT_EQ(value, -1);
}

TEST(RowWriter, FillsEachInputFromItsOwnPayload) {
  ModelSpec spec;
  spec.inputs = {{"T", DataType::kBytes, {1}}, {"N", DataType::kUint8, {2}}};
  Payload strings;
  strings.Append(absl::string_view("\2\0\0", 3));
  strings.Append(absl::string_view("\0ab", 3));
  Payload numbers;
  numbers.Append("xy");
  Request request;
  request.inputs.resize(2);
  request.inputs[0].datatype = DataType::kBytes;
  request.inputs[0].dims = request.inputs[0].padded_dims = {1};
  request.inputs[0].tensor_bytes = 6;
  request.inputs[0].payload = &strings;
  request.inputs[1].datatype = DataType::kUint8;
  request.inputs[1].dims = request.inputs[1].padded_dims = {2};
  request.inputs[1].row_bytes = 2;
  request.inputs[1].payload = &numbers;
  char rows[2][8] = {};
  RowTargets targets;
  targets.inputs = {rows[0], rows[1]};
  RowWriter().Fill(spec, request, targets);
  EXPECT_EQ(std::string(rows[0], 8), std::string("\2\0\0\0ab\0\0", 8));
  EXPECT_EQ(std::string(rows[1], 3), std::string("xy\0", 3));
}

}  // namespace
}  // namespace mpsd
