// DataType: the datatypes of the Open Inference Protocol, as the numbers that shared memory holds.
//
// One enum for all: a request names a datatype by text, a batch record by number, libtorch by an
// enum of its own (worker/model/torch/scalar_types.h). Elements lie little endian. BOOL is a byte,
// 0 or 1. FP16 and BF16 have no type in C++; worker/model/elements.h reads them.
//
// BYTES is the one datatype without a fixed size: each element is a u32 length and that many bytes.
// So a BYTES tensor's size does not follow from its shape, and code that computes sizes handles it
// separately.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// The numbers are part of the shared-memory format: never renumber them. A number read from shared
// memory may be none of these; the functions below accept any.
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

// Bytes of one element: 1, 2, 4 or 8. 0 for BYTES, kInvalid and numbers that are no datatype.
// Thread-safe, like all functions here.
size_t ElementBytes(DataType datatype);

// The protocol's name, such as "FP32"; "INVALID" for a number that is no datatype.
absl::string_view DataTypeName(DataType datatype);

// The datatype of that name; kInvalid when there is none. Case matters.
DataType ParseDataType(absl::string_view name);

}  // namespace mpsd
