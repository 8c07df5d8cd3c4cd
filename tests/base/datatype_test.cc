#include "proto/base/datatype.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace mpsd {
namespace {

// The protocol's names and sizes, and the numbers that stand in shared memory.
TEST(DataType, HasTheProtocolsNamesAndSizes) {
  const std::map<std::string, std::pair<uint32_t, size_t>> wanted = {
      {"BOOL", {1, 1}},   {"UINT8", {2, 1}}, {"UINT16", {3, 2}}, {"UINT32", {4, 4}},
      {"UINT64", {5, 8}}, {"INT8", {6, 1}},  {"INT16", {7, 2}},  {"INT32", {8, 4}},
      {"INT64", {9, 8}},  {"FP16", {10, 2}}, {"FP32", {11, 4}},  {"FP64", {12, 8}},
      {"BF16", {13, 2}},  {"BYTES", {14, 0}}};
  ASSERT_EQ(wanted.size() + 1, kDataTypeCount);
  for (const auto& [name, number_and_bytes] : wanted) {
    const DataType datatype = ParseDataType(name);
    EXPECT_EQ(static_cast<uint32_t>(datatype), number_and_bytes.first) << name;
    EXPECT_EQ(ElementBytes(datatype), number_and_bytes.second) << name;
    EXPECT_EQ(DataTypeName(datatype), name);
  }
}

TEST(DataType, RefusesOtherNames) {
  for (const char* name : {"", "INVALID", "fp32", "FP32 ", "FP", "STRING", "TYPE_FP32"}) {
    EXPECT_EQ(ParseDataType(name), DataType::kInvalid) << name;
  }
}

TEST(DataType, NumbersBeyondTheLastAreInvalid) {
  for (const uint32_t number : {0U, kDataTypeCount, UINT32_MAX}) {
    EXPECT_EQ(DataTypeName(static_cast<DataType>(number)), "INVALID");
    EXPECT_EQ(ElementBytes(static_cast<DataType>(number)), 0U);
  }
}

}  // namespace
}  // namespace mpsd
