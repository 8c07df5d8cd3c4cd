// tensor: tensors as a client holds them: bytes with a name, a datatype and a shape.
//
//   const std::vector<float> values(4 * 256);
//   InferInput input = MakeInput<float>("INPUT0", {4, 256}, values);       borrows `values`
//   absl::StatusOr<std::vector<float>> out = Values<float>(reply.outputs[0]);
//
//   const std::string packed = PackBytes({"first", "second"});
//   InferInput texts{"TEXT", DataType::kBytes, {2}, packed};              borrows `packed`
//
// Bytes are little endian, row-major, without padding. Shapes include the batch dim. C++ has no
// FP16 and BF16: set datatype and bytes by hand. All functions are pure and thread-safe.
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

// A part of shared memory that the server knows by name.
struct RegionRange {
  std::string region;  // empty: no region
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Borrows its bytes, which must outlive the call; BYTES as PackBytes() writes them. The server
// checks that bytes, datatype and shape fit.
struct InferInput {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims shape;
  absl::Span<const char> bytes;
  RegionRange range{};  // where the bytes lie instead of `bytes`
};

// Owns its bytes, which fit the shape; UnpackBytes() checks the lengths inside BYTES.
struct InferOutput {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims shape;
  std::string bytes;
  RegionRange range{};  // where the bytes lie instead, if the request asked for it
};

// FP16, BF16 and BYTES have none.
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

// Borrows `values`. The caller ensures that their number fits the shape.
template <class T>
InferInput MakeInput(std::string name, Dims shape, absl::Span<const T> values) {
  return {std::move(name),
          DataTypeOf<T>::value,
          std::move(shape),
          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)},
          {}};
}

// "output 'y' is FP32, not INT64".
absl::Status WrongDataType(const InferOutput& output, DataType wanted);

// Copies the values. INVALID_ARGUMENT for another datatype than T's. An output in a region has
// none.
template <class T>
absl::StatusOr<std::vector<T>> Values(const InferOutput& output) {
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no bytes: read BOOL as it lies");
  if (output.datatype != DataTypeOf<T>::value) return WrongDataType(output, DataTypeOf<T>::value);
  std::vector<T> values(output.bytes.size() / sizeof(T));
  std::memcpy(values.data(), output.bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
void AppendNumber(T value, std::string* bytes) {
  const size_t end = bytes->size();
  bytes->resize(end + sizeof(T));
  std::memcpy(bytes->data() + end, &value, sizeof(T));
}

// Each element has its length in front, four bytes, little endian.
std::string PackBytes(absl::Span<const std::string> elements);

// INVALID_ARGUMENT when a length reaches beyond the end.
absl::StatusOr<std::vector<std::string>> UnpackBytes(absl::string_view bytes);

}  // namespace mpsd::client
