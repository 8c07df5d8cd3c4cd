// npy: numpy's .npy files, as numpy.save() writes them: one array with its datatype and shape.
//
// A file is magic, version, a header's length, the header, the elements. The header is a literal of
// a Python dictionary. Files are untrusted: every length is checked, and nothing is evaluated.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

// Bounds a file, and an array's elements and bytes.
inline constexpr uint64_t kMaxNpyBytes = 1ULL << 30;

// Little endian, row-major, a length before each element of BYTES.
struct NpyArray {
  DataType datatype = DataType::kInvalid;
  Dims shape;
  std::string bytes;
};

// Pure.
bool IsNpy(absl::string_view file);

// Versions 1 and 2, little endian, C order. 'S' become BYTES without padding zeros.
//
// INVALID_ARGUMENT for complex numbers, dates, objects, 'U', big endian, and Fortran order of two
// dims or more. Also for more than kMaxRank dims after the batch dim, a header over 64 KiB, and a
// wrong length. Thread-safe.
absl::StatusOr<NpyArray> ParseNpy(absl::string_view file);

// Writes version 1. BYTES become 'S' of the longest element's length, so an element's last zeros
// are lost.
//
// INVALID_ARGUMENT for BF16, for bytes that contradict the shape, and for padding to more than
// kMaxNpyBytes. Thread-safe.
absl::StatusOr<std::string> FormatNpy(const NpyArray& array);

}  // namespace mpsd::cli
