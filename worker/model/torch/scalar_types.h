// scalar_types: the protocol's datatypes as libtorch's scalar types, and back. Pure and
// thread-safe.
#pragma once

#include <optional>

#include "c10/core/ScalarType.h"
#include "proto/base/datatype.h"

namespace mpsd {

// nullopt for kInvalid and for BYTES, which TorchScript models take and give as lists of strings.
inline std::optional<c10::ScalarType> ToScalarType(DataType datatype) {
  switch (datatype) {
    case DataType::kBool:
      return c10::ScalarType::Bool;
    case DataType::kUint8:
      return c10::ScalarType::Byte;
    case DataType::kUint16:
      return c10::ScalarType::UInt16;
    case DataType::kUint32:
      return c10::ScalarType::UInt32;
    case DataType::kUint64:
      return c10::ScalarType::UInt64;
    case DataType::kInt8:
      return c10::ScalarType::Char;
    case DataType::kInt16:
      return c10::ScalarType::Short;
    case DataType::kInt32:
      return c10::ScalarType::Int;
    case DataType::kInt64:
      return c10::ScalarType::Long;
    case DataType::kFp16:
      return c10::ScalarType::Half;
    case DataType::kFp32:
      return c10::ScalarType::Float;
    case DataType::kFp64:
      return c10::ScalarType::Double;
    case DataType::kBf16:
      return c10::ScalarType::BFloat16;
    case DataType::kInvalid:
    case DataType::kBytes:
      break;
  }
  return std::nullopt;
}

// kInvalid for types that the protocol cannot carry, such as complex, quantized and 8-bit floats.
inline DataType FromScalarType(c10::ScalarType type) {
  for (uint32_t i = 1; i < kDataTypeCount; ++i) {
    const auto datatype = static_cast<DataType>(i);
    if (ToScalarType(datatype) == type) return datatype;
  }
  return DataType::kInvalid;
}

}  // namespace mpsd
