// The reader of inference requests over HTTP against a slow one over nlohmann's tree: the same
// verdict, the same names, shapes and bytes. The first two bytes say how many of the rest are
// binary tensors behind the JSON.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "proto/base/datatype.h"
#include "proto/base/limits.h"
#include "proto/base/shape.h"
#include "server/bodies/json/infer_body.h"
#include "tests/fuzz/fuzz_input.h"

namespace mpsd {
namespace {

using nlohmann::json;

constexpr uint64_t kMessageBytes = 4096;
// Beyond it the reader under test may refuse a document for its depth.
constexpr int kSureDepth = 12;

struct SlowInput {
  std::string name;
  std::string datatype;
  std::vector<int64_t> dims;
  bool in_region = false;
  std::string bytes;
};

// The request as it is read; nothing where it is refused.
struct SlowRequest {
  std::string id;
  std::vector<SlowInput> inputs;
  std::vector<std::string> outputs;
  uint64_t field_bytes = 0;  // about
};

// Refuses fields that come twice, which nlohmann's reader takes.
class TwiceCallback {
 public:
  bool operator()(int depth, json::parse_event_t event, json& value) {
    const auto level = static_cast<size_t>(depth);
    deepest = std::max(deepest, depth);
    if (event == json::parse_event_t::object_start) {
      keys_.resize(std::max(keys_.size(), level + 2));
      keys_[level + 1].clear();
    }
    if (event == json::parse_event_t::key) {
      twice = twice || !keys_[level].insert(value.get<std::string>()).second;
    }
    return true;
  }

  bool twice = false;
  int deepest = 0;

 private:
  std::vector<std::set<std::string>> keys_;
};

template <typename Number>
void Put(Number number, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Integer>
bool PutInteger(const json& element, std::string* bytes) {
  using Limits = std::numeric_limits<Integer>;
  if (!element.is_number_integer()) return false;
  if (element.is_number_unsigned()) {
    const uint64_t number = element.get<uint64_t>();
    if (number > static_cast<uint64_t>(Limits::max())) return false;
    Put(static_cast<Integer>(number), bytes);
    return true;
  }
  // "-0" is here too, which is no unsigned integer.
  const int64_t number = element.get<int64_t>();
  if (!Limits::is_signed || number < static_cast<int64_t>(Limits::min())) return false;
  Put(static_cast<Integer>(number), bytes);
  return true;
}

bool PutReal(const json& element, DataType datatype, std::string* bytes) {
  if (!element.is_number()) return false;
  // nlohmann's reader keeps "-0" as an integer without a sign.
  const bool is_minus_zero =
      element.is_number_integer() && !element.is_number_unsigned() && element.get<int64_t>() == 0;
  const double number = is_minus_zero ? -0.0 : element.get<double>();
  if (datatype == DataType::kFp64) {
    Put(number, bytes);
    return true;
  }
  if (std::abs(number) >= 0x1.ffffffp127) return false;
  Put(static_cast<float>(number), bytes);
  return true;
}

bool PutElement(const json& element, DataType datatype, std::string* bytes) {
  switch (datatype) {
    case DataType::kBool:
      if (element.is_boolean()) Put(element.get<bool>(), bytes);
      return element.is_boolean();
    case DataType::kInt8:
      return PutInteger<int8_t>(element, bytes);
    case DataType::kInt16:
      return PutInteger<int16_t>(element, bytes);
    case DataType::kInt32:
      return PutInteger<int32_t>(element, bytes);
    case DataType::kInt64:
      return PutInteger<int64_t>(element, bytes);
    case DataType::kUint8:
      return PutInteger<uint8_t>(element, bytes);
    case DataType::kUint16:
      return PutInteger<uint16_t>(element, bytes);
    case DataType::kUint32:
      return PutInteger<uint32_t>(element, bytes);
    case DataType::kUint64:
      return PutInteger<uint64_t>(element, bytes);
    case DataType::kFp32:
    case DataType::kFp64:
      return PutReal(element, datatype, bytes);
    case DataType::kBytes:
      if (!element.is_string()) return false;
      Put(static_cast<uint32_t>(element.get_ref<const std::string&>().size()), bytes);
      *bytes += element.get_ref<const std::string&>();
      return true;
    default:
      return false;
  }
}

bool PutAll(const json& data, DataType datatype, uint64_t* count, std::string* bytes) {
  for (const json& element : data) {
    if (element.is_array()) {
      if (!PutAll(element, datatype, count, bytes)) return false;
      continue;
    }
    ++*count;
    if (!PutElement(element, datatype, bytes)) return false;
  }
  return true;
}

bool ReadData(const json& data, SlowInput* input) {
  const DataType datatype = ParseDataType(input->datatype);
  if (datatype == DataType::kInvalid) return true;
  uint64_t count = 0;
  if (!data.is_array() || !PutAll(data, datatype, &count, &input->bytes)) return false;
  if (datatype == DataType::kFp16 || datatype == DataType::kBf16) return false;
  const std::optional<uint64_t> expected = ElementCount(input->dims);
  return !expected.has_value() || count == *expected;
}

bool IsScalar(const json& value) {
  return value.is_number() || value.is_boolean() || value.is_string();
}

bool ReadText(const json& object, const char* field, std::string* text) {
  if (!object.contains(field) || !object[field].is_string()) return false;
  *text = object[field];
  return true;
}

// All parameters but the one that this transport alone has.
bool CheckParameters(const json& parameters, const char* own) {
  return parameters.is_object() &&
         std::all_of(parameters.items().begin(), parameters.items().end(), [own](const auto& item) {
           return item.key() == own || IsScalar(item.value());
         });
}

bool ReadInput(const json& object, std::string* binary, SlowRequest* request) {
  SlowInput& input = request->inputs.emplace_back();
  if (!object.is_object() || !ReadText(object, "name", &input.name) ||
      !ReadText(object, "datatype", &input.datatype)) {
    return false;
  }
  if (!object.contains("shape") || !object["shape"].is_array()) return false;
  for (const json& dim : object["shape"]) {
    std::string bytes;
    if (!PutInteger<int64_t>(dim, &bytes)) return false;
    input.dims.push_back(dim.get<int64_t>());
  }
  const json parameters = object.value("parameters", json::object());
  if (!CheckParameters(parameters, "binary_data_size")) return false;
  input.in_region = parameters.contains("shared_memory_region");
  const bool is_binary = parameters.contains("binary_data_size");
  if (object.contains("data") + is_binary + input.in_region != 1) return false;
  if (input.in_region) return true;
  if (!is_binary) return ReadData(object["data"], &input);
  const json& size = parameters["binary_data_size"];
  if (!size.is_number_unsigned() || size.get<uint64_t>() > binary->size()) return false;
  input.bytes = binary->substr(0, size);
  binary->erase(0, size);
  return true;
}

bool ReadOutput(const json& object, SlowRequest* request) {
  if (!object.is_object() || !ReadText(object, "name", &request->outputs.emplace_back())) {
    return false;
  }
  const json parameters = object.value("parameters", json::object());
  if (!CheckParameters(parameters, "binary_data")) return false;
  if (!parameters.contains("binary_data")) return true;
  const json& binary = parameters["binary_data"];
  return binary.is_boolean() &&
         !(binary.get<bool>() && parameters.contains("shared_memory_region"));
}

std::optional<SlowRequest> ReadSlowly(const json& document, std::string binary) {
  SlowRequest request;
  if (!document.is_object() || !document.contains("inputs")) return std::nullopt;
  if (document.contains("id") && !ReadText(document, "id", &request.id)) return std::nullopt;
  const json parameters = document.value("parameters", json::object());
  if (!CheckParameters(parameters, "binary_data_output")) return std::nullopt;
  if (parameters.contains("binary_data_output") && !parameters["binary_data_output"].is_boolean()) {
    return std::nullopt;
  }
  const json outputs = document.value("outputs", json::array());
  if (!document["inputs"].is_array() || !outputs.is_array()) return std::nullopt;
  for (const json& input : document["inputs"]) {
    if (!ReadInput(input, &binary, &request)) return std::nullopt;
  }
  for (const json& output : outputs) {
    if (!ReadOutput(output, &request)) return std::nullopt;
  }
  if (!binary.empty()) return std::nullopt;
  return request;
}

void CheckSame(const InferMessage& message, const SlowRequest& expected) {
  MPSD_CHECK(message.id == expected.id);
  MPSD_CHECK(message.inputs.size() == expected.inputs.size());
  MPSD_CHECK(message.outputs.size() == expected.outputs.size());
  for (size_t i = 0; i < message.inputs.size(); ++i) {
    const InputMessage& input = message.inputs[i];
    const SlowInput& slow = expected.inputs[i];
    MPSD_CHECK(input.name == slow.name && input.datatype == slow.datatype);
    MPSD_CHECK(input.dims == absl::MakeConstSpan(slow.dims));
    MPSD_CHECK(input.has_data == !slow.in_region && input.payload.bytes == slow.bytes.size());
    if (!input.payload.pieces.empty()) MPSD_CHECK(input.payload.pieces[0] == slow.bytes);
  }
  for (size_t i = 0; i < message.outputs.size(); ++i) {
    MPSD_CHECK(message.outputs[i] == expected.outputs[i]);
  }
}

// Both take a text to its end; nlohmann's reader ends at a NUL, and skips a byte order mark.
bool ComparesAs(const std::string& text) {
  return text.find('\0') == std::string::npos && text.compare(0, 3, "\xEF\xBB\xBF") != 0;
}

void Read(const std::string& body, size_t json_bytes) {
  static InferBody reader;
  InferMessage message;
  message.model = "m";
  const absl::Status status = reader.Read(body, json_bytes, kMessageBytes, &message);
  const std::string text = body.substr(0, json_bytes);
  if (!ComparesAs(text)) return;
  TwiceCallback callback;
  const json document = json::parse(
      text,
      [&callback](int depth, json::parse_event_t event, json& value) {
        return callback(depth, event, value);
      },
      /*allow_exceptions=*/false);
  std::optional<SlowRequest> expected;
  if (!document.is_discarded() && !callback.twice) {
    expected = ReadSlowly(document, body.substr(json_bytes));
  }
  if (status.ok()) {
    MPSD_CHECK(expected.has_value());
    CheckSame(message, *expected);
  } else if (callback.deepest < kSureDepth && !absl::IsResourceExhausted(status)) {
    MPSD_CHECK(!expected.has_value());
  }
}

}  // namespace
}  // namespace mpsd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  mpsd::FuzzInput input(data, bytes);
  const size_t binary_bytes = input.Take<uint16_t>();
  const std::string body = input.TakeText(bytes);
  mpsd::Read(body, body.size() - std::min(binary_bytes, body.size()));
  return 0;
}
