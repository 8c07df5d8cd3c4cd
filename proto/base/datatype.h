// DataType: the datatypes of the Open Inference Protocol.
//
// Elements lie little endian. BOOL is a byte, 0 or 1. C++ has no FP16 and BF16;
// worker/model/elements.h reads them. Each element of BYTES is a u32 length and that many bytes, so
// a shape does not tell its size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// The shared-memory format has these numbers: never renumber them. A number from there may be none
// of these; the functions below accept any.
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

// 1, 2, 4 or 8; 0 for BYTES, kInvalid and unknown numbers. Thread-safe, like all functions here.
size_t ElementBytes(DataType datatype);

// The protocol's "FP32"; "INVALID" for an unknown number.
absl::string_view DataTypeName(DataType datatype);

// kInvalid if there is none. Case matters.
DataType ParseDataType(absl::string_view name);

}  // namespace mpsd
