#include "server/bodies/json/tensor_data.h"

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

// It rounds to more than the largest float.
constexpr double kBeyondFloat = 0x1.ffffffp127;

bool Get(ondemand::value value, bool* element) { return !value.get_bool().get(*element); }

bool Get(ondemand::value value, double* element) { return !value.get_double().get(*element); }

bool Get(ondemand::value value, float* element) {
  double wide = 0;
  if (value.get_double().get(wide) || std::abs(wide) >= kBeyondFloat) return false;
  *element = static_cast<float>(wide);
  return true;
}

template <typename Integer>
bool Get(ondemand::value value, Integer* element) {
  using Limits = std::numeric_limits<Integer>;
  std::conditional_t<Limits::is_signed, int64_t, uint64_t> wide = 0;
  if constexpr (Limits::is_signed) {
    if (value.get_int64().get(wide)) return false;
  } else {
    if (value.get_uint64().get(wide)) return false;
  }
  *element = static_cast<Integer>(wide);
  return wide >= Limits::min() && wide <= Limits::max();
}

// Counts elements and makes room. Lives on one thread, for one tensor.
class ElementSink {
 public:
  ElementSink(const DataTarget& target, CopiedTensors* out) : target_(target), out_(out) {}

  absl::Status Append(const void* elements, size_t count, size_t bytes) {
    count_ += count;
    if (target_.elements.has_value() && count_ > *target_.elements) {
      return Unparsable("data", "Shape does not match true shape of 'data' field");
    }
    if (bytes > out_->limit_bytes - out_->bytes.size()) return TooLarge();
    out_->bytes.append(static_cast<const char*>(elements), bytes);
    return absl::OkStatus();
  }

  absl::Status WrongElement(size_t ahead) const {
    return Unparsable("data", absl::StrCat("element ", count_ + ahead, " of input '", target_.name,
                                           "' is no ", DataTypeName(target_.datatype)));
  }

  absl::Status CheckCount() const {
    out_->last_elements = count_;
    if (!target_.elements.has_value() || count_ == *target_.elements) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("Failed to parse 'data' field: shape does not match true shape: input '",
                     target_.name, "' has ", count_, " elements, not ", *target_.elements));
  }

 private:
  absl::Status TooLarge() const {
    return absl::ResourceExhaustedError(absl::StrCat("the elements of the tensors take more than ",
                                                     out_->limit_bytes, " bytes of memory"));
  }

  const DataTarget& target_;
  CopiedTensors* const out_;
  uint64_t count_ = 0;
};

// Reads in chunks: appending one by one costs more than reading. Lives on one thread, for one
// tensor.
template <typename Element>
class NumberReader {
 public:
  NumberReader(const DataTarget& target, CopiedTensors* out) : sink_(target, out) {}

  absl::Status Take(ondemand::value value) {
    if (!Get(value, &chunk_[filled_])) return sink_.WrongElement(filled_);
    return ++filled_ < kChunk ? absl::OkStatus() : Flush();
  }

  absl::Status End() {
    absl::Status status = Flush();
    return status.ok() ? sink_.CheckCount() : status;
  }

 private:
  static constexpr size_t kChunk = 128;

  absl::Status Flush() {
    const size_t count = filled_;
    filled_ = 0;
    return sink_.Append(chunk_, count, count * sizeof(Element));
  }

  ElementSink sink_;
  size_t filled_ = 0;
  Element chunk_[kChunk];
};

// Lives on one thread, for one tensor.
class TextReader {
 public:
  TextReader(const DataTarget& target, CopiedTensors* out) : sink_(target, out) {}

  absl::Status Take(ondemand::value value) {
    std::string_view text;
    if (value.get_string().get(text)) return sink_.WrongElement(0);
    const auto length = static_cast<uint32_t>(text.size());
    const absl::Status status = sink_.Append(&length, 1, sizeof(length));
    return status.ok() ? sink_.Append(text.data(), 0, text.size()) : status;
  }

  absl::Status End() { return sink_.CheckCount(); }

 private:
  ElementSink sink_;
};

template <typename Reader>
absl::Status ReadNested(ondemand::value data, int depth, int most, Reader* reader) {
  if (depth == most) return TooDeep(most);
  ondemand::array array;
  if (absl::Status status = ReadArray(data, "data", &array); !status.ok()) return status;
  return ForEachElement(array, [depth, most, reader](ondemand::value element) {
    ondemand::json_type type;
    if (const auto error = element.type().get(type); error) return NotJson(error);
    return type == ondemand::json_type::array ? ReadNested(element, depth + 1, most, reader)
                                              : reader->Take(element);
  });
}

bool IsArray(ondemand::value value) {
  ondemand::json_type type;
  return value.type().get(type) == simdjson::SUCCESS && type == ondemand::json_type::array;
}

template <typename Reader>
absl::Status ReadAll(ondemand::value data, const DataTarget& target, CopiedTensors* out) {
  Reader reader(target, out);
  absl::Status status;
  if (target.is_short_form && !IsArray(data)) {
    status = reader.Take(data);
  } else {
    status = ReadNested(data, 0, target.is_short_form ? 1 : kMaxDataDepth, &reader);
  }
  return status.ok() ? reader.End() : status;
}

// Clients know this text.
absl::Status NoJsonForm(const DataTarget& target) {
  return absl::InvalidArgumentError(
      absl::StrCat("receiving ", DataTypeName(target.datatype),
                   " data via JSON is not supported. Please use the binary data format for input ",
                   target.name));
}

}  // namespace

absl::Status ReadTensorData(ondemand::value data, const DataTarget& target, CopiedTensors* out) {
  switch (target.datatype) {
    case DataType::kBool:
      return ReadAll<NumberReader<bool>>(data, target, out);
    case DataType::kInt8:
      return ReadAll<NumberReader<int8_t>>(data, target, out);
    case DataType::kInt16:
      return ReadAll<NumberReader<int16_t>>(data, target, out);
    case DataType::kInt32:
      return ReadAll<NumberReader<int32_t>>(data, target, out);
    case DataType::kInt64:
      return ReadAll<NumberReader<int64_t>>(data, target, out);
    case DataType::kUint8:
      return ReadAll<NumberReader<uint8_t>>(data, target, out);
    case DataType::kUint16:
      return ReadAll<NumberReader<uint16_t>>(data, target, out);
    case DataType::kUint32:
      return ReadAll<NumberReader<uint32_t>>(data, target, out);
    case DataType::kUint64:
      return ReadAll<NumberReader<uint64_t>>(data, target, out);
    case DataType::kFp32:
      return ReadAll<NumberReader<float>>(data, target, out);
    case DataType::kFp64:
      return ReadAll<NumberReader<double>>(data, target, out);
    case DataType::kBytes:
      return ReadAll<TextReader>(data, target, out);
    case DataType::kFp16:
    case DataType::kBf16:
      return NoJsonForm(target);
    case DataType::kInvalid:
      break;
  }
  return SkipValue(data, 0);
}

}  // namespace mpsd
