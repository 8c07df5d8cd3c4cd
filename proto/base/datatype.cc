#include "proto/base/datatype.h"

#include <array>

namespace mpsd {
namespace {

struct Entry {
  absl::string_view name;
  size_t bytes;
};

constexpr std::array<Entry, kDataTypeCount> kEntries = {{
    {"INVALID", 0},
    {"BOOL", 1},
    {"UINT8", 1},
    {"UINT16", 2},
    {"UINT32", 4},
    {"UINT64", 8},
    {"INT8", 1},
    {"INT16", 2},
    {"INT32", 4},
    {"INT64", 8},
    {"FP16", 2},
    {"FP32", 4},
    {"FP64", 8},
    {"BF16", 2},
    {"BYTES", 0},
}};

const Entry& Find(DataType datatype) {
  const auto index = static_cast<uint32_t>(datatype);
  return kEntries[index < kDataTypeCount ? index : 0];
}

}  // namespace

size_t ElementBytes(DataType datatype) { return Find(datatype).bytes; }

absl::string_view DataTypeName(DataType datatype) { return Find(datatype).name; }

DataType ParseDataType(absl::string_view name) {
  for (uint32_t i = 1; i < kDataTypeCount; ++i) {
    if (kEntries[i].name == name) return static_cast<DataType>(i);
  }
  return DataType::kInvalid;
}

}  // namespace mpsd
