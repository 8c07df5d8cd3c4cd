#include "worker/model/encoder/weights/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file with that header and `data_bytes` bytes "abcd…".
std::string FileOf(const std::string& header, size_t data_bytes) {
  const uint64_t header_bytes = header.size();
  std::string file(sizeof(header_bytes), '\0');
  std::memcpy(file.data(), &header_bytes, sizeof(header_bytes));
  file += header;
  for (size_t i = 0; i < data_bytes; ++i) file.push_back(static_cast<char>('a' + i % 26));
  return file;
}

std::string ParseError(const std::string& header, size_t data_bytes) {
  const std::string file = FileOf(header, data_bytes);
  const absl::StatusOr<StoredTensors> tensors = ParseSafetensors(file);
  return tensors.ok() ? "it parsed" : std::string(tensors.status().message());
}

constexpr char kTwo[] =
    R"({"__metadata__": {"format": "pt"},
        "b": {"dtype": "F16", "shape": [2], "data_offsets": [4, 8]},
        "a": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}})";

TEST(Safetensors, ReadsTensorsWhereverTheyLie) {
  const std::string file = FileOf(kTwo, 8);
  const absl::StatusOr<StoredTensors> tensors = ParseSafetensors(file);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ(tensors->at("a").bytes, "abcd");
  EXPECT_EQ(tensors->at("b").bytes, "efgh");
  EXPECT_EQ(tensors->at("b").dtype, "F16");
  EXPECT_THAT(tensors->at("a").shape, ElementsAre(1, 1));
}

TEST(Safetensors, TakesEmptyTensorsAndScalars) {
  EXPECT_EQ(ParseError(R"({"e": {"dtype": "F32", "shape": [0, 7], "data_offsets": [0, 0]},
                           "s": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}})",
                       4),
            "it parsed");
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string file = FileOf(kTwo, 8);
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    EXPECT_FALSE(ParseSafetensors(absl::string_view(file).substr(0, bytes)).ok()) << bytes;
  }
}

TEST(Safetensors, RefusesAHeaderLongerThanTheFile) {
  std::string file = FileOf(kTwo, 8);
  std::memset(file.data(), 0xFF, 8);
  EXPECT_THAT(std::string(ParseSafetensors(file).status().message()),
              HasSubstr("longer than the file"));
}

TEST(Safetensors, RefusesAHeaderThatIsNoObject) {
  EXPECT_THAT(ParseError("[]", 0), HasSubstr("no JSON object"));
  EXPECT_THAT(ParseError("{", 0), HasSubstr("no JSON"));
  EXPECT_EQ(ParseError(std::string(100'000, '['), 0), "the header is nested too deep");
}

TEST(Safetensors, RefusesOffsetsOutsideTheFile) {
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}})", 8),
            "tensor 'a' lies outside the file");
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]}})", 8),
            "tensor 'a' lies outside the file");
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [1],
                           "data_offsets": [18446744073709551612, 0]}})",
                       8),
            "tensor 'a' has no data_offsets");
}

TEST(Safetensors, RefusesBytesThatDoNotFitTheShape) {
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})", 8),
            "tensor 'a' has another number of bytes than its shape and dtype");
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F64", "shape": [2305843009213693953],
                           "data_offsets": [0, 8]}})",
                       8),
            "tensor 'a' has another number of bytes than its shape and dtype");
}

TEST(Safetensors, RefusesOverlappingTensors) {
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                           "b": {"dtype": "F32", "shape": [1], "data_offsets": [2, 6]}})",
                       6),
            "tensor 'b' overlaps another");
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                           "b": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})",
                       4),
            "tensor 'b' overlaps another");
}

TEST(Safetensors, RefusesHolesAndTrailingBytes) {
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})", 8),
            "tensor 'a' has a hole before it");
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", 8),
            "there are bytes that belong to no tensor");
}

TEST(Safetensors, RefusesEntriesThatAreIncomplete) {
  EXPECT_EQ(ParseError(R"({"a": 3})", 0), "tensor 'a' is described by no object");
  EXPECT_EQ(ParseError(R"({"a": {"shape": [], "data_offsets": [0, 0]}})", 0),
            "tensor 'a' has no dtype");
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F4", "shape": [], "data_offsets": [0, 0]}})", 0),
            "tensor 'a' has a dtype that is not known");
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 0]}})", 0),
            "tensor 'a' has no shape");
  EXPECT_EQ(ParseError(R"({"a": {"dtype": "U8", "shape": [1,1,1,1,1,1,1,1,1],
                           "data_offsets": [0, 1]}})",
                       1),
            "tensor 'a' has too many dims");
}

TEST(Safetensors, RefusesAHeaderOfTooManyTensors) {
  std::string header = "{";
  for (int i = 0; i <= 100'000; ++i) header += "\"" + std::to_string(i) + "\":0,";
  header.back() = '}';
  EXPECT_EQ(ParseError(header, 0), "the header names too many tensors");
}

}  // namespace
}  // namespace mpsd
