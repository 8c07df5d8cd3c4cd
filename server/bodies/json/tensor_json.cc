#include "server/bodies/json/tensor_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "server/bodies/json/json_text.h"
#include "server/request/string_elements.h"

namespace mpsd {
namespace {

absl::Status NoJsonForm(const AnswerOutput& output, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("output '", output.name, "' holds ", what,
                   ", which JSON cannot carry. Please use the binary data format for the output"));
}

absl::Status TooLarge(size_t most_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the answer takes more than ", most_bytes,
                   " bytes as JSON. Please use the binary data format for its outputs"));
}

absl::Status WrongShape(const AnswerOutput& output) {
  return absl::InternalError(
      absl::StrCat("output tensor shape does not match size of output for '", output.name, "'"));
}

template <typename Number>
bool IsFinite(Number number) {
  if constexpr (std::floating_point<Number>) return std::isfinite(number);
  return true;
}

char* WriteFlag(uint8_t flag, char* to) {
  const absl::string_view word = flag != 0 ? "true" : "false";
  return std::copy(word.begin(), word.end(), to);
}

// Puts a comma after each element. The text is made in place: appending costs more than the
// numbers.
template <typename Number, bool kFlags>
bool PutChunk(absl::string_view bytes, std::string* out) {
  const size_t begin = out->size();
  out->resize(begin + bytes.size() / sizeof(Number) * kJsonNumberBytes);
  char* to = out->data() + begin;
  for (size_t i = 0; i < bytes.size(); i += sizeof(Number)) {
    Number number;
    std::memcpy(&number, bytes.data() + i, sizeof(number));
    if (!IsFinite(number)) return false;
    if constexpr (kFlags) {
      to = WriteFlag(number, to);
    } else {
      to = WriteJsonNumber(number, to);
    }
    *to++ = ',';
  }
  out->resize(static_cast<size_t>(to - out->data()));
  return true;
}

template <typename Number, bool kFlags = false>
absl::Status PutNumbers(const AnswerOutput& output, size_t most_bytes, std::string* out) {
  constexpr size_t kChunkBytes = 128 * sizeof(Number);
  for (absl::string_view rest = output.bytes; !rest.empty();) {
    if (out->size() > most_bytes) return TooLarge(most_bytes);
    const absl::string_view chunk = rest.substr(0, kChunkBytes);
    if (!PutChunk<Number, kFlags>(chunk, out)) {
      return NoJsonForm(output, "a number that is not finite");
    }
    rest.remove_prefix(chunk.size());
  }
  return absl::OkStatus();
}

absl::Status PutTexts(const AnswerOutput& output, size_t most_bytes, std::string* out) {
  absl::string_view rest = output.bytes;
  uint64_t count = 0;
  while (!rest.empty()) {
    if (out->size() > most_bytes) return TooLarge(most_bytes);
    const std::optional<absl::string_view> text = TakeString(&rest);
    if (!text.has_value()) return WrongShape(output);
    if (!PutJsonText(*text, out)) return NoJsonForm(output, "a text that is not UTF-8");
    out->push_back(',');
    ++count;
  }
  return ElementCount(output.dims) == count ? absl::OkStatus() : WrongShape(output);
}

// Puts a comma after each element.
absl::Status PutElements(const AnswerOutput& output, size_t most_bytes, std::string* out) {
  switch (output.datatype) {
    case DataType::kBool:
      return PutNumbers<uint8_t, /*kFlags=*/true>(output, most_bytes, out);
    case DataType::kInt8:
      return PutNumbers<int8_t>(output, most_bytes, out);
    case DataType::kInt16:
      return PutNumbers<int16_t>(output, most_bytes, out);
    case DataType::kInt32:
      return PutNumbers<int32_t>(output, most_bytes, out);
    case DataType::kInt64:
      return PutNumbers<int64_t>(output, most_bytes, out);
    case DataType::kUint8:
      return PutNumbers<uint8_t>(output, most_bytes, out);
    case DataType::kUint16:
      return PutNumbers<uint16_t>(output, most_bytes, out);
    case DataType::kUint32:
      return PutNumbers<uint32_t>(output, most_bytes, out);
    case DataType::kUint64:
      return PutNumbers<uint64_t>(output, most_bytes, out);
    case DataType::kFp32:
      return PutNumbers<float>(output, most_bytes, out);
    case DataType::kFp64:
      return PutNumbers<double>(output, most_bytes, out);
    case DataType::kBytes:
      return PutTexts(output, most_bytes, out);
    case DataType::kFp16:
    case DataType::kBf16:
      break;
    case DataType::kInvalid:
      return WrongShape(output);
  }
  // Clients know this text.
  return absl::InvalidArgumentError(
      absl::StrCat("sending ", DataTypeName(output.datatype),
                   " data via JSON is not supported. Please use the binary data format for output ",
                   output.name));
}

}  // namespace

absl::Status PutTensorJson(const AnswerOutput& output, DataForm form, size_t most_bytes,
                           std::string* out) {
  const std::optional<uint64_t> elements = ElementCount(output.dims);
  const size_t element_bytes = ElementBytes(output.datatype);
  if (!elements.has_value()) return WrongShape(output);
  if (element_bytes > 0 && output.bytes.size() != *elements * element_bytes) {
    return WrongShape(output);
  }
  const bool bare = form == DataForm::kBareIfSingle && *elements == 1;
  if (!bare) out->push_back('[');
  absl::Status status = PutElements(output, most_bytes, out);
  if (!status.ok()) return status;
  if (*elements > 0) out->pop_back();  // the last comma
  if (!bare) out->push_back(']');
  return absl::OkStatus();
}

}  // namespace mpsd
