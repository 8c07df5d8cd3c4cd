// numpy's .npy files: one array with its datatype and shape.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

inline constexpr uint64_t kMaxNpyBytes = 1ULL << 30;

// Bytes as the protocol wants them: little endian, row-major, BYTES elements behind their lengths.
struct NpyArray {
  DataType datatype = DataType::kInvalid;
  Dims shape;
  std::string bytes;
};

// Reads versions 1 and 2 of the format, little endian, C order. numpy's 'S' arrays become BYTES,
// and lose the zeros that fill their elements up. Other than that, there is no datatype for what
// numpy has and the protocol has not (complex numbers, dates, objects, 'U'): INVALID_ARGUMENT, as
// for a file that contradicts itself. Thread-safe.
absl::StatusOr<NpyArray> ParseNpy(absl::string_view file);

// The file of `array`, in version 1. BYTES become 'S' of the longest element. INVALID_ARGUMENT for
// BF16, which numpy does not have, and when bytes and shape do not fit. Thread-safe.
absl::StatusOr<std::string> FormatNpy(const NpyArray& array);

}  // namespace mpsd::cli
