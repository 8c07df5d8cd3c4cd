// DataType: the datatypes of the Open Inference Protocol, as the numbers that shared memory holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// The numbers are part of the shared-memory format: never renumber them.
enum class DataType : uint32_t {
  kInvalid = 0,
  kBool = 1,
  kUint8 = 2,
  kUint16 = 3,
  kUint32 = 4,
  kUint64 = 5,
  kInt8 = 6,
  kInt16 = 7,
  kInt32 = 8,
  kInt64 = 9,
  kFp16 = 10,
  kFp32 = 11,
  kFp64 = 12,
  kBf16 = 13,
  kBytes = 14,
};
inline constexpr uint32_t kDataTypeCount = 15;

// Bytes of one element. 0 for kInvalid and for BYTES, whose elements carry their own length.
size_t ElementBytes(DataType datatype);

// The protocol's name, such as "FP32"; "INVALID" for a number that is no datatype.
absl::string_view DataTypeName(DataType datatype);

// The datatype of that name; kInvalid when there is none. Case matters.
DataType ParseDataType(absl::string_view name);

}  // namespace mpsd
