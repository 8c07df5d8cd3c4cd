#include "server/bodies/json/infer_reply.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/datatype.h"
#include "proto/base/limits.h"
#include "server/bodies/json/json_text.h"
#include "server/bodies/json/tensor_json.h"

namespace mpsd {
namespace {

// Small tensors are put behind the JSON.
constexpr size_t kUsualJsonBytes = 256;

void PutParameters(const ReplyHead& head, std::string* json) {
  absl::string_view separator = R"(,"parameters":{)";
  if (head.final_flag) {
    absl::StrAppend(json, separator, R"("triton_final_response":)",
                    head.is_final ? "true" : "false");
    separator = ",";
  }
  if (head.truncated_texts > 0) {
    absl::StrAppend(json, separator, R"("truncated_texts":)", head.truncated_texts);
  }
  if (head.final_flag || head.truncated_texts > 0) json->push_back('}');
}

void PutHead(const ReplyHead& head, std::string* json) {
  absl::StrAppend(json, R"({"model_name":)");
  PutJsonText(head.model, json);
  absl::StrAppend(json, R"(,"model_version":)");
  PutJsonText(head.version, json);
  if (!head.id.empty()) {
    absl::StrAppend(json, R"(,"id":)");
    PutJsonText(head.id, json);
  }
  PutParameters(head, json);
}

void PutRegion(const AnswerRegion& region, std::string* json) {
  absl::StrAppend(json, R"(,"parameters":{"shared_memory_region":)");
  PutJsonText(region.name, json);
  absl::StrAppend(json, R"(,"shared_memory_byte_size":)", region.bytes);
  if (region.offset > 0) absl::StrAppend(json, R"(,"shared_memory_offset":)", region.offset);
  json->push_back('}');
}

void PutBinary(absl::string_view bytes, InferReply* reply) {
  absl::StrAppend(&reply->json, R"(,"parameters":{"binary_data_size":)", bytes.size(), "}");
  reply->binary_bytes += bytes.size();
  if (!bytes.empty()) reply->binary.push_back(bytes);
}

absl::Status PutOutput(const AnswerOutput& output, const InferBody& request, size_t most_bytes,
                       InferReply* reply) {
  std::string* const json = &reply->json;
  absl::StrAppend(json, R"({"name":)");
  PutJsonText(output.name, json);
  absl::StrAppend(json, R"(,"datatype":")", DataTypeName(output.datatype), R"(","shape":[)",
                  absl::StrJoin(output.dims, ","), "]");
  if (!output.region.name.empty()) {
    PutRegion(output.region, json);
  } else if (request.WantsBinary(output.name)) {
    PutBinary(output.bytes, reply);
  } else {
    absl::StrAppend(json, R"(,"data":)");
    const absl::Status status = PutTensorJson(output, DataForm::kArray, most_bytes, json);
    if (!status.ok()) return status;
  }
  json->push_back('}');
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteInferReply(const ReplyHead& head, const Answer& answer, const InferBody& request,
                             size_t most_bytes, InferReply* reply) {
  reply->json.clear();
  reply->binary.clear();
  reply->binary_bytes = 0;
  size_t bytes = kUsualJsonBytes;
  for (const AnswerOutput& output : answer.outputs) bytes += output.bytes.size();
  reply->json.reserve(std::min(bytes, kCopiedReplyBytes));
  PutHead(head, &reply->json);
  absl::StrAppend(&reply->json, R"(,"outputs":[)");
  for (const AnswerOutput& output : answer.outputs) {
    if (&output != answer.outputs.data()) reply->json.push_back(',');
    const absl::Status status = PutOutput(output, request, most_bytes, reply);
    if (!status.ok()) return status;
  }
  absl::StrAppend(&reply->json, "]}");
  return absl::OkStatus();
}

}  // namespace mpsd
