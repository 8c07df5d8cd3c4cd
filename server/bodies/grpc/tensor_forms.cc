#include "server/bodies/grpc/tensor_forms.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mpsd {
namespace {

constexpr char kRegion[] = "shared_memory_region";
constexpr char kOffset[] = "shared_memory_offset";
constexpr char kByteSize[] = "shared_memory_byte_size";

std::string WrongType(absl::string_view name, absl::string_view tensor,
                      absl::string_view expected) {
  return absl::StrCat("invalid value type for '", name, "' parameter for tensor '", tensor,
                      "', expected ", expected, ".");
}

// Without the parameter `number` stays.
std::string ReadNumber(const ParameterMap& parameters, const char* name, absl::string_view tensor,
                       bool has_region, uint64_t* number) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return "";
  if (!has_region) {
    return absl::StrCat("'", name, "' can not be specified without '", kRegion,
                        "' parameter for tensor '", tensor, "'");
  }
  if (found->second.parameter_choice_case() != inference::InferParameter::kInt64Param) {
    return WrongType(name, tensor, "int64_param");
  }
  if (found->second.int64_param() < 0) {
    return absl::StrCat("invalid value for '", name, "' parameter for tensor '", tensor,
                        "', expected >= 0.");
  }
  *number = static_cast<uint64_t>(found->second.int64_param());
  return "";
}

std::string ValueText(double value) { return absl::StrFormat("%f", value); }
std::string ValueText(int64_t value) { return absl::StrCat(value); }
std::string ValueText(uint64_t value) { return absl::StrCat(value); }

void PutElement(const std::string& text, std::string* bytes) {
  const auto length = static_cast<uint32_t>(text.size());
  bytes->append(reinterpret_cast<const char*>(&length), sizeof(length));
  *bytes += text;
}

using Labels = std::vector<std::string>;

// ":label", or nothing.
std::string LabelText(const Labels& labels, size_t index) {
  const bool has_label = index < labels.size() && !labels[index].empty();
  return has_label ? absl::StrCat(":", labels[index]) : "";
}

const Labels& LabelsOf(const ClassLabels& labels, absl::string_view output) {
  static const auto* const kNone = new Labels();
  const auto found = labels.find(std::string(output));
  return found == labels.end() ? *kNone : found->second;
}

// Equal elements keep their order.
template <typename Element, typename Widest>
void PutClasses(absl::string_view row, const Labels& labels, size_t count, std::string* bytes) {
  std::vector<Element> elements(row.size() / sizeof(Element));
  std::memcpy(elements.data(), row.data(), elements.size() * sizeof(Element));
  // A NaN is below every number, so that any output has an order.
  const auto is_nan = [&elements](size_t i) { return elements[i] != elements[i]; };
  const auto before = [&elements, &is_nan](size_t a, size_t b) {
    if (is_nan(a) != is_nan(b)) return is_nan(b);
    return elements[a] > elements[b] || (!(elements[b] > elements[a]) && a < b);
  };
  std::vector<size_t> best;  // a heap: the least of them is in front
  for (size_t i = 0; i < elements.size(); ++i) {
    if (best.size() == count) {
      if (count == 0 || !before(i, best.front())) continue;
      std::pop_heap(best.begin(), best.end(), before);
      best.pop_back();
    }
    best.push_back(i);
    std::push_heap(best.begin(), best.end(), before);
  }
  std::sort_heap(best.begin(), best.end(), before);
  for (const size_t i : best) {
    PutElement(
        absl::StrCat(ValueText(static_cast<Widest>(elements[i])), ":", i, LabelText(labels, i)),
        bytes);
  }
}

using PutRow = void (*)(absl::string_view row, const Labels& labels, size_t count,
                        std::string* bytes);

PutRow PutterOf(DataType datatype) {
  switch (datatype) {
    case DataType::kUint8:
      return PutClasses<uint8_t, uint64_t>;
    case DataType::kUint16:
      return PutClasses<uint16_t, uint64_t>;
    case DataType::kUint32:
      return PutClasses<uint32_t, uint64_t>;
    case DataType::kUint64:
      return PutClasses<uint64_t, uint64_t>;
    case DataType::kInt8:
      return PutClasses<int8_t, int64_t>;
    case DataType::kInt16:
      return PutClasses<int16_t, int64_t>;
    case DataType::kInt32:
      return PutClasses<int32_t, int64_t>;
    case DataType::kInt64:
      return PutClasses<int64_t, int64_t>;
    case DataType::kFp32:
      return PutClasses<float, double>;
    case DataType::kFp64:
      return PutClasses<double, double>;
    default:
      return nullptr;
  }
}

// Takes its classes out of `room`.
absl::Status ClassifyOne(int64_t wanted, const Labels& labels, bool batches, size_t* room,
                         AnswerOutput* output, std::string* bytes) {
  const PutRow put = PutterOf(output->datatype);
  if (put == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("class result not available for output '",
                                                   output->name, "' due to unsupported type '",
                                                   DataTypeName(output->datatype), "'"));
  }
  const size_t rows = batches ? static_cast<size_t>(output->dims[0]) : 1;
  const size_t row_bytes = rows == 0 ? 0 : output->bytes.size() / rows;
  const size_t elements = row_bytes / ElementBytes(output->datatype);
  const size_t count = static_cast<size_t>(std::min<int64_t>(wanted, elements));
  if (rows * count > *room) {
    return absl::InvalidArgumentError(absl::StrCat("an answer has at most ", kMaxClasses,
                                                   " classes, and output '", output->name,
                                                   "' wants ", rows * count));
  }
  *room -= rows * count;
  for (size_t row = 0; row < rows; ++row) {
    put(output->bytes.substr(row * row_bytes, row_bytes), labels, count, bytes);
  }
  output->datatype = DataType::kBytes;
  output->bytes = *bytes;
  output->dims.clear();
  if (batches) output->dims.push_back(static_cast<int64_t>(rows));
  output->dims.push_back(static_cast<int64_t>(count));
  return absl::OkStatus();
}

}  // namespace

std::string ReadRegionUse(const ParameterMap& parameters, absl::string_view tensor,
                          RegionUse* use) {
  const auto region = parameters.find(kRegion);
  const bool has_region = region != parameters.end();
  if (has_region) {
    if (region->second.parameter_choice_case() != inference::InferParameter::kStringParam) {
      return WrongType(kRegion, tensor, "string_param");
    }
    use->region = region->second.string_param();
    if (use->region.empty()) {
      return absl::StrCat("'", kRegion, "' parameter for tensor '", tensor, "' is empty");
    }
  }
  std::string fault = ReadNumber(parameters, kOffset, tensor, has_region, &use->offset);
  if (!fault.empty()) return fault;
  fault = ReadNumber(parameters, kByteSize, tensor, has_region, &use->bytes);
  if (!fault.empty() || !has_region || parameters.contains(kByteSize)) return fault;
  return absl::StrCat("'", kByteSize, "' must be specified along with '", kRegion,
                      "' parameter for tensor '", tensor, "'");
}

absl::Status Classify(absl::Span<const ClassRequest> wanted, const ClassLabels& labels,
                      bool batches, Answer* answer, std::deque<std::string>* storage) {
  answer->memory = nullptr;
  size_t room = kMaxClasses;
  for (const ClassRequest& one : wanted) {
    for (AnswerOutput& output : answer->outputs) {
      if (output.name != one.output) continue;
      const absl::Status status = ClassifyOne(one.count, LabelsOf(labels, one.output), batches,
                                              &room, &output, &storage->emplace_back());
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace mpsd
