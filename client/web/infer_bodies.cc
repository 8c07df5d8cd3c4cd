#include "client/web/infer_bodies.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/output_check.h"
#include "client/web/answer_json.h"
#include "proto/base/check.h"

namespace mpsd::client {
namespace {

Json DescribeInput(const InferInput& input) {
  MPSD_CHECK(input.range.region.empty());
  return {{"name", input.name},
          {"datatype", std::string(DataTypeName(input.datatype))},
          {"shape", std::vector<int64_t>(input.shape.begin(), input.shape.end())},
          {"parameters", {{"binary_data_size", input.bytes.size()}}}};
}

// Servers heed `binary_data_output` for outputs without a name in the request.
Json DescribeRequest(const InferRequest& request) {
  MPSD_CHECK(request.output_ranges.empty());
  Json json = {{"inputs", Json::array()}};
  if (!request.id.empty()) json["id"] = request.id;
  for (const InferInput& input : request.inputs) json["inputs"].push_back(DescribeInput(input));
  if (request.outputs.empty()) json["parameters"] = {{"binary_data_output", true}};
  for (const std::string& name : request.outputs) {
    json["outputs"].push_back({{"name", name}, {"parameters", {{"binary_data", true}}}});
  }
  return json;
}

// Empty if there is no such text.
std::string TextField(const Json& json, const char* key) {
  const Json& text = Field(json, key);
  return text.is_string() ? text.get<std::string>() : "";
}

// 0 if there is no such number.
uint64_t NumberField(const Json& json, const char* key) {
  const Json& number = Field(json, key);
  return number.is_number_unsigned() ? number.get<uint64_t>() : 0;
}

// Shared by outputs and metadata.
absl::StatusOr<TensorMetadata> ReadTensor(const Json& json) {
  TensorMetadata tensor{TextField(json, "name"), ParseDataType(TextField(json, "datatype"))};
  const Json& shape = Field(json, "shape");
  if (tensor.name.empty() || !shape.is_array()) {
    return WrongAnswer("has a tensor without a name or a shape");
  }
  for (const Json& dim : shape) {
    if (!dim.is_number_integer()) return WrongAnswer("has a tensor with a dim that is no number");
    tensor.shape.push_back(dim.get<int64_t>());
  }
  return tensor;
}

// Takes its bytes from the front of `tensors`.
absl::StatusOr<InferOutput> ReadOutput(const Json& json, absl::string_view* tensors) {
  absl::StatusOr<TensorMetadata> tensor = ReadTensor(json);
  if (!tensor.ok()) return tensor.status();
  const Json& size = Field(Field(json, "parameters"), "binary_data_size");
  if (!size.is_number_unsigned()) {
    return WrongAnswer(absl::StrCat("does not say how many bytes output '", tensor->name, "' has"));
  }
  const auto byte_count = size.get<uint64_t>();
  if (byte_count > tensors->size()) {
    return WrongAnswer(absl::StrCat("ends before output '", tensor->name, "' does"));
  }
  InferOutput output{std::move(tensor->name), tensor->datatype, std::move(tensor->shape),
                     std::string(tensors->substr(0, byte_count))};
  tensors->remove_prefix(byte_count);
  const absl::Status status = CheckOutput(output, TextField(json, "datatype"));
  if (!status.ok()) return status;
  return output;
}

// Nothing if the header is wrong.
std::optional<size_t> JsonLength(absl::string_view body, absl::string_view header) {
  if (header.empty()) return body.size();
  size_t length = 0;
  if (!absl::SimpleAtoi(header, &length) || length > body.size()) return std::nullopt;
  return length;
}

absl::StatusOr<std::vector<TensorMetadata>> ReadTensors(const Json& json, const char* key) {
  const Json& list = Field(json, key);
  if (!list.is_array()) return WrongAnswer(absl::StrCat("has no list '", key, "'"));
  std::vector<TensorMetadata> tensors;
  for (const Json& entry : list) {
    absl::StatusOr<TensorMetadata> tensor = ReadTensor(entry);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

}  // namespace

std::string Escaped(absl::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || absl::string_view("-._~").find(c) != absl::string_view::npos) {
      escaped.push_back(c);
    } else {
      absl::StrAppend(&escaped, "%", absl::Hex(byte, absl::kZeroPad2));
    }
  }
  return escaped;
}

std::string ModelPath(absl::string_view model, absl::string_view version) {
  const std::string path = absl::StrCat("/v2/models/", Escaped(model));
  return version.empty() ? path : absl::StrCat(path, "/versions/", Escaped(version));
}

InferBody WriteInferBody(const InferRequest& request) {
  InferBody body{JsonText(DescribeRequest(request))};
  body.json_bytes = body.bytes.size();
  for (const InferInput& input : request.inputs) {
    body.bytes.append(input.bytes.data(), input.bytes.size());
  }
  return body;
}

absl::StatusOr<InferReply> ReadInferReply(absl::string_view body, absl::string_view json_length) {
  const std::optional<size_t> length = JsonLength(body, json_length);
  if (!length.has_value()) {
    return WrongAnswer(
        absl::StrCat("has '", json_length, "' bytes of JSON, but ", body.size(), " bytes in all"));
  }
  const Json json = ParseAnswer(body.substr(0, *length));
  const Json& outputs = Field(json, "outputs");
  if (!outputs.is_array()) return WrongAnswer("has no list 'outputs'");
  InferReply reply{
      TextField(json, "model_name"), TextField(json, "model_version"), TextField(json, "id"), {}};
  reply.truncated_texts = NumberField(Field(json, "parameters"), "truncated_texts");
  absl::string_view tensors = body.substr(*length);
  for (const Json& entry : outputs) {
    absl::StatusOr<InferOutput> output = ReadOutput(entry, &tensors);
    if (!output.ok()) return output.status();
    reply.outputs.push_back(*std::move(output));
  }
  if (tensors.empty()) return reply;
  return WrongAnswer(absl::StrCat("has ", tensors.size(), " bytes behind its outputs"));
}

absl::StatusOr<ModelMetadata> ReadModelMetadata(absl::string_view body) {
  const Json json = ParseAnswer(body);
  auto inputs = ReadTensors(json, "inputs");
  if (!inputs.ok()) return inputs.status();
  auto outputs = ReadTensors(json, "outputs");
  if (!outputs.ok()) return outputs.status();
  ModelMetadata metadata{TextField(json, "name"),
                         {},
                         TextField(json, "platform"),
                         *std::move(inputs),
                         *std::move(outputs)};
  for (const Json& version : Field(json, "versions")) {
    if (version.is_string()) metadata.versions.push_back(version.get<std::string>());
  }
  return metadata;
}

}  // namespace mpsd::client
