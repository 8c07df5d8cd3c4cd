// npy: numpy's .npy files: one array with its datatype and shape.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

inline constexpr uint64_t kMaxNpyBytes = 1ULL << 30;

// An array in the protocol's form: little endian, row-major, lengths before the elements of BYTES.
struct NpyArray {
  DataType datatype = DataType::kInvalid;
  Dims shape;
  std::string bytes;
};

// Reads versions 1 and 2 of the format, little endian, C order. Arrays of 'S' become BYTES, without
// the zeros that pad their elements. INVALID_ARGUMENT for types that the protocol does not have
// (complex numbers, dates, objects, 'U'), and for a file that contradicts itself. Thread-safe.
absl::StatusOr<NpyArray> ParseNpy(absl::string_view file);

// The file of `array`, in version 1. BYTES become 'S' of the longest element's length.
// INVALID_ARGUMENT for BF16, which numpy does not have, and when bytes and shape contradict each
// other. Thread-safe.
absl::StatusOr<std::string> FormatNpy(const NpyArray& array);

}  // namespace mpsd::cli
