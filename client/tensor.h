// Tensors as a client holds them: bytes with a name, a datatype and a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd::client {

// A part of a region of shared memory that the server knows by its name.
struct RegionRange {
  std::string region;  // empty: none
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// What goes to the server. Borrows its bytes, which must outlive the call: little endian,
// row-major, without padding; BYTES elements each behind their length (see PackBytes).
struct InferInput {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims shape;
  absl::Span<const char> bytes;
  RegionRange range{};  // where the bytes lie instead
};

// What came back. Owns its bytes. Those of fixed-size datatypes have the length that the shape asks
// for; the lengths inside BYTES are looked at by UnpackBytes().
struct InferOutput {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims shape;
  std::string bytes;
  RegionRange range{};  // where the bytes lie instead, because the request said so
};

// The datatype of a C++ type. BOOL is `bool`; FP16, BF16 and BYTES have no C++ type.
template <class T>
struct DataTypeOf;
template <>
struct DataTypeOf<bool> {
  static constexpr DataType value = DataType::kBool;
};
template <>
struct DataTypeOf<uint8_t> {
  static constexpr DataType value = DataType::kUint8;
};
template <>
struct DataTypeOf<uint16_t> {
  static constexpr DataType value = DataType::kUint16;
};
template <>
struct DataTypeOf<uint32_t> {
  static constexpr DataType value = DataType::kUint32;
};
template <>
struct DataTypeOf<uint64_t> {
  static constexpr DataType value = DataType::kUint64;
};
template <>
struct DataTypeOf<int8_t> {
  static constexpr DataType value = DataType::kInt8;
};
template <>
struct DataTypeOf<int16_t> {
  static constexpr DataType value = DataType::kInt16;
};
template <>
struct DataTypeOf<int32_t> {
  static constexpr DataType value = DataType::kInt32;
};
template <>
struct DataTypeOf<int64_t> {
  static constexpr DataType value = DataType::kInt64;
};
template <>
struct DataTypeOf<float> {
  static constexpr DataType value = DataType::kFp32;
};
template <>
struct DataTypeOf<double> {
  static constexpr DataType value = DataType::kFp64;
};

// An input over `values`, which it borrows.
template <class T>
InferInput MakeInput(std::string name, Dims shape, absl::Span<const T> values) {
  return {std::move(name),
          DataTypeOf<T>::value,
          std::move(shape),
          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)},
          {}};
}

// "output 'y' is FP32, not INT64"
absl::Status WrongDataType(const InferOutput& output, DataType wanted);

// The elements of `output`; INVALID_ARGUMENT when its datatype is not that of T.
template <class T>
absl::StatusOr<std::vector<T>> Values(const InferOutput& output) {
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no bytes: read BOOL as it lies");
  if (output.datatype != DataTypeOf<T>::value) return WrongDataType(output, DataTypeOf<T>::value);
  std::vector<T> values(output.bytes.size() / sizeof(T));
  std::memcpy(values.data(), output.bytes.data(), values.size() * sizeof(T));
  return values;
}

// The bytes of a BYTES tensor: each element behind its length, four bytes, little endian.
std::string PackBytes(absl::Span<const std::string> elements);

// The elements of a BYTES tensor; INVALID_ARGUMENT when a length points beyond the end.
absl::StatusOr<std::vector<std::string>> UnpackBytes(absl::string_view bytes);

}  // namespace mpsd::client
