// npy: numpy's .npy files: one array with its datatype and shape.
//
// `infer` reads and writes tensors in the form of numpy.save(). A file is magic, version, the
// length of a header, the header and the elements. The header is the literal of a Python dictionary
// with descr, fortran_order and shape.
//
// Files are untrusted: every length is checked before it is used, and nothing is evaluated.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

// The bytes of the largest file, and the most elements and bytes of one array.
inline constexpr uint64_t kMaxNpyBytes = 1ULL << 30;

// An array in the protocol's form: little endian, row-major, a length before each element of BYTES.
struct NpyArray {
  DataType datatype = DataType::kInvalid;
  Dims shape;
  std::string bytes;
};

// Whether `file` begins as one of numpy's. Pure.
bool IsNpy(absl::string_view file);

// Reads versions 1 and 2 of the format, little endian, C order. Arrays of 'S' become BYTES, without
// the zeros that pad their elements.
//
// INVALID_ARGUMENT for types that the protocol does not have (complex numbers, dates, objects,
// 'U'), for big endian, and for Fortran order of two dims or more. Also for more than kMaxRank dims
// after the batch dim, for a header over 64 KiB, and for a file whose length does not fit its
// shape. Thread-safe.
absl::StatusOr<NpyArray> ParseNpy(absl::string_view file);

// The file of `array`, in version 1. BYTES become 'S' of the longest element's length, so zeros at
// the end of an element are lost.
//
// INVALID_ARGUMENT for BF16, which numpy does not have, if bytes and shape contradict each other,
// and if padding the elements of BYTES would take more than kMaxNpyBytes. Thread-safe.
absl::StatusOr<std::string> FormatNpy(const NpyArray& array);

}  // namespace mpsd::cli
