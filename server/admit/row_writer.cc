#include "server/admit/row_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "server/request/payload_reader.h"

namespace mpsd {
namespace {

void Fill(char* target, uint64_t bytes, const char* element, size_t element_bytes) {
  if (std::all_of(element, element + element_bytes, [](char byte) { return byte == 0; })) {
    std::memset(target, 0, bytes);
    return;
  }
  for (uint64_t i = 0; i < bytes; i += element_bytes) {
    std::memcpy(target + i, element, element_bytes);
  }
}

// Writes one row's part below dim `dim`.
void WriteDim(PayloadReader* source, const RequestInput& input, size_t dim, uint64_t padded_bytes,
              const char* pad_element, char* target) {
  const size_t element_bytes = ElementBytes(input.datatype);
  if (dim == input.dims.size()) {
    source->Read(target, element_bytes);
    return;
  }
  if (std::equal(input.dims.begin() + static_cast<ptrdiff_t>(dim), input.dims.end(),
                 input.padded_dims.begin() + static_cast<ptrdiff_t>(dim))) {
    source->Read(target, padded_bytes);
    return;
  }
  const auto padded_length = static_cast<uint64_t>(input.padded_dims[dim]);
  const uint64_t slice_bytes = padded_length == 0 ? 0 : padded_bytes / padded_length;
  const auto length = static_cast<uint64_t>(input.dims[dim]);
  const bool whole_slices =
      std::equal(input.dims.begin() + static_cast<ptrdiff_t>(dim) + 1, input.dims.end(),
                 input.padded_dims.begin() + static_cast<ptrdiff_t>(dim) + 1);
  if (whole_slices) {
    source->Read(target, length * slice_bytes);
  } else {
    for (uint64_t i = 0; i < length; ++i) {
      WriteDim(source, input, dim + 1, slice_bytes, pad_element, target + i * slice_bytes);
    }
  }
  Fill(target + length * slice_bytes, padded_bytes - length * slice_bytes, pad_element,
       element_bytes);
}

// `value` in IEEE half precision, rounded to nearest even; 0 or infinity outside the normal range.
uint16_t HalfBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const int32_t exponent = static_cast<int32_t>(bits >> 23 & 0xff) - 127 + 15;
  if (exponent <= 0) return static_cast<uint16_t>(sign);
  if (exponent >= 31) return static_cast<uint16_t>(sign | 0x7c00);
  const uint32_t half = static_cast<uint32_t>(exponent) << 10 | (bits >> 13 & 0x3ff);
  const uint32_t round = (bits & 0x1fff) > 0x1000 || ((bits & 0x1fff) == 0x1000 && (half & 1));
  return static_cast<uint16_t>(sign | (half + round));
}

template <typename T>
void Put(T value, char* element) {
  std::memcpy(element, &value, sizeof(value));
}

}  // namespace

void WriteRows(const Payload& payload, const RequestInput& input, uint32_t rows,
               const char* pad_element, char* target) {
  PayloadReader source(payload);
  if (input.dims == input.padded_dims) {
    source.Read(target, input.Bytes(rows) - payload.arriving_bytes);
    return;
  }
  for (uint32_t row = 0; row < rows; ++row) {
    WriteDim(&source, input, 0, input.row_bytes, pad_element, target + row * input.row_bytes);
  }
}

void RowWriter::Fill(const ModelSpec& spec, const Request& request,
                     const RowTargets& targets) const {
  for (uint32_t i = 0; i < request.inputs.size(); ++i) {
    char pad_element[8];
    PadElement(spec, i, pad_element);
    const RequestInput& input = request.inputs[i];
    if (input.is_left_out()) continue;
    WriteRows(*input.payload, input, request.rows, pad_element, targets.inputs[i]);
  }
}

void EncodeElement(DataType datatype, double value, char element[8]) {
  std::memset(element, 0, 8);
  switch (datatype) {
    case DataType::kBool:
      return Put<uint8_t>(value != 0, element);
    case DataType::kUint8:
      return Put(static_cast<uint8_t>(value), element);
    case DataType::kUint16:
      return Put(static_cast<uint16_t>(value), element);
    case DataType::kUint32:
      return Put(static_cast<uint32_t>(value), element);
    case DataType::kUint64:
      return Put(static_cast<uint64_t>(value), element);
    case DataType::kInt8:
      return Put(static_cast<int8_t>(value), element);
    case DataType::kInt16:
      return Put(static_cast<int16_t>(value), element);
    case DataType::kInt32:
      return Put(static_cast<int32_t>(value), element);
    case DataType::kInt64:
      return Put(static_cast<int64_t>(value), element);
    case DataType::kFp16:
      return Put(HalfBits(static_cast<float>(value)), element);
    case DataType::kFp32:
      return Put(static_cast<float>(value), element);
    case DataType::kFp64:
      return Put(value, element);
    case DataType::kBf16:
      return Put(static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16),
                 element);
    case DataType::kBytes:
    case DataType::kInvalid:
      return;
  }
}

void PadElement(const ModelSpec& spec, uint32_t input, char element[8]) {
  std::memset(element, 0, 8);
  for (const PadRule& rule : spec.pad) {
    if (rule.input == spec.inputs[input].name) {
      EncodeElement(spec.inputs[input].datatype, rule.value, element);
    }
  }
}

}  // namespace mpsd
