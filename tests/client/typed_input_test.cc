#include "client/cli/typed_input.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "client/format/elements.h"

namespace mpsd::cli {
namespace {

template <class T>
std::string PackedBytes(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) client::AppendNumber(value, &bytes);
  return bytes;
}

client::TensorMetadata Input(DataType datatype, Dims shape) { return {"x", datatype, shape}; }

std::string WordsFault(absl::string_view words, DataType datatype) {
  return std::string(WordsArray(words, Input(datatype, {-1}), nullptr).status().message());
}

std::string JsonFault(absl::string_view text) {
  return std::string(JsonArray(text, Input(DataType::kFp32, {-1, 2}), nullptr).status().message());
}

TEST(WordsArray, TheLastOpenDimTakesTheElements) {
  const auto shape_of = [](Dims shape) {
    const auto array = WordsArray("1,2,3,4", Input(DataType::kInt64, shape), nullptr);
    return array.ok() ? array->shape : Dims{};
  };
  EXPECT_EQ(shape_of({-1}), (Dims{4}));
  EXPECT_EQ(shape_of({-1, 2}), (Dims{2, 2}));
  EXPECT_EQ(shape_of({-1, -1}), (Dims{1, 4}));
  EXPECT_EQ(shape_of({2, 2}), (Dims{2, 2}));
  EXPECT_EQ(shape_of({-1, 3}), Dims{});
  EXPECT_EQ(shape_of({3}), (Dims{4}));  // the server says what it expects
  EXPECT_EQ(shape_of({-1, 0}), Dims{});
}

TEST(WordsArray, AShapeThatWasAskedForIsTaken) {
  const Dims shape = {4, 1};
  const auto input = Input(DataType::kInt64, {-1, -1});
  EXPECT_EQ(WordsArray("1,2,3,4", input, &shape)->shape, shape);
  EXPECT_EQ(WordsArray("1,2,3", input, &shape).status(),
            absl::InvalidArgumentError("3 elements do not make up [4,1]"));
}

TEST(BytesArray, IsTheWholeFile) {
  const std::string image("\x89PNG,\0\n", 7);
  const auto array = BytesArray(image, Input(DataType::kBytes, {-1, 1}), nullptr);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->shape, (Dims{1, 1}));
  EXPECT_EQ(array->bytes, client::PackBytes({image}));
  EXPECT_EQ(BytesArray("", Input(DataType::kBytes, {1}), nullptr)->bytes, client::PackBytes({""}));
}

TEST(BytesArray, NoOtherDatatypeTakesAFileAsItIs) {
  EXPECT_EQ(BytesArray("x", Input(DataType::kFp32, {-1, 3, 224, 224}), nullptr).status().message(),
            "its file is neither .npy nor .json, and only an input of BYTES takes a file as it is; "
            "this one takes FP32[-1,3,224,224], so decode the file into numpy's format first");
}

TEST(WordsArray, ElementsAreOfTheModelsDatatype) {
  const auto bytes = [](absl::string_view words, DataType datatype) {
    const auto array = WordsArray(words, Input(datatype, {-1}), nullptr);
    return array.ok() ? array->bytes : std::string(array.status().message());
  };
  EXPECT_EQ(bytes("-128,127", DataType::kInt8), PackedBytes<int8_t>({-128, 127}));
  EXPECT_EQ(bytes("18446744073709551615", DataType::kUint64), PackedBytes<uint64_t>({UINT64_MAX}));
  EXPECT_EQ(bytes("true,0", DataType::kBool), std::string("\1\0", 2));
  EXPECT_EQ(bytes("1.5, 2", DataType::kFp64), PackedBytes<double>({1.5, 2}));
  EXPECT_EQ(bytes("1", DataType::kFp16), PackedBytes<uint16_t>({0x3C00}));
  EXPECT_EQ(bytes("1", DataType::kBf16), PackedBytes<uint16_t>({0x3F80}));
  EXPECT_EQ(bytes("one, two", DataType::kBytes), client::PackBytes({"one, two"}));
}

TEST(WordsArray, RefusesElementsOfAnotherKind) {
  EXPECT_EQ(WordsFault("128", DataType::kInt8), "128 is no INT8");
  EXPECT_EQ(WordsFault("-1", DataType::kUint8), "-1 is no UINT8");
  EXPECT_EQ(WordsFault("1.5", DataType::kInt64), "1.5 is no INT64");
  EXPECT_EQ(WordsFault("2", DataType::kBool), "2 is no BOOL");
  EXPECT_EQ(WordsFault("1,,2", DataType::kFp32), "'' is no FP32");
  EXPECT_EQ(WordsFault("[1]", DataType::kFp32), "'[1]' is no FP32");
}

TEST(JsonArray, NestedListsSayTheShape) {
  const auto array =
      JsonArray("[[[1], [2]], [[3], [4]]]", Input(DataType::kInt32, {-1, -1, 1}), nullptr);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->shape, (Dims{2, 2, 1}));
  EXPECT_EQ(array->bytes, PackedBytes<int32_t>({1, 2, 3, 4}));
}

TEST(JsonArray, AFlatListAndOneElementFillTheModelsShape) {
  const auto input = Input(DataType::kFp32, {-1, 2});
  EXPECT_EQ(JsonArray("[1, 2, 3, 4]", input, nullptr)->shape, (Dims{2, 2}));
  EXPECT_EQ(JsonArray("\"a b\"", Input(DataType::kBytes, {-1, 1}), nullptr)->bytes,
            client::PackBytes({"a b"}));
}

TEST(JsonArray, RefusesWhatIsNoTensor) {
  EXPECT_EQ(JsonFault("[1, 2"), "its file is no JSON");
  EXPECT_EQ(JsonFault("[[1, 2], [3]]"), "its lists differ in length");
  EXPECT_EQ(JsonFault("[[1, 2], 3]"), "its lists differ in depth");
  EXPECT_EQ(JsonFault("[1, [2]]"), "its lists differ in depth");
  EXPECT_EQ(JsonFault("[[[[[[[[[[[[1]]]]]]]]]]]]"), "its lists are too deep");
  EXPECT_EQ(JsonFault("[{}, 2]"), "an object is no FP32");
  EXPECT_EQ(JsonFault("[1, 2, 3]"), "3 elements do not make up [-1,2]");
}

}  // namespace
}  // namespace mpsd::cli
