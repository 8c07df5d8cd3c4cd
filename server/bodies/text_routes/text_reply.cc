#include "server/bodies/text_routes/text_reply.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/bodies/json/json_text.h"
#include "server/request/too_long.h"

namespace mpsd {
namespace {

absl::Status BadAnswer(absl::string_view why) {
  return absl::InternalError(absl::StrCat("the model's answer ", why));
}

bool AllFinite(absl::string_view bytes) {
  float number = 0;
  for (size_t at = 0; at < bytes.size(); at += sizeof(number)) {
    std::memcpy(&number, bytes.data() + at, sizeof(number));
    if (!std::isfinite(number)) return false;
  }
  return true;
}

void PutNumber(float number, std::string* json) {
  char digits[kJsonNumberBytes];
  json->append(digits, WriteJsonNumber(number, digits));
}

void PutField(absl::string_view name, absl::string_view text, std::string* json) {
  absl::StrAppend(json, "\"", name, "\":");
  PutJsonText(text, json);
}

// FP32 is little endian on every host that mpsd runs on (proto/base/platform.h).
void PutBase64(const std::vector<float>& vector, std::string* json) {
  const absl::string_view bytes(reinterpret_cast<const char*>(vector.data()),
                                vector.size() * sizeof(float));
  absl::StrAppend(json, "\"", absl::Base64Escape(bytes), "\"");
}

void PutVector(const std::vector<float>& vector, std::string* json) {
  json->push_back('[');
  for (const float number : vector) {
    PutNumber(number, json);
    json->push_back(',');
  }
  json->back() = ']';
}

void Normalize(std::vector<float>* vector) {
  double sum = 0;
  for (const float number : *vector) sum += static_cast<double>(number) * number;
  if (sum == 0) return;
  const double scale = 1 / std::sqrt(sum);
  for (float& number : *vector) number = static_cast<float>(number * scale);
}

absl::Status CheckRoom(const std::string& json, size_t most_bytes) {
  if (json.size() <= most_bytes) return absl::OkStatus();
  return TooLong(absl::StrCat("the answer has more than ", most_bytes, " bytes (limits.message)"));
}

template <typename Put>
absl::Status PutVectors(const TextRequest& request, size_t most_bytes, TextValues* values,
                        std::string* json, Put put) {
  const size_t width = request.dimensions.value_or(values->width());
  if (width > values->width()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'dimensions' must be from 1 to ", values->width()));
  }
  std::vector<float> row;
  for (size_t i = 0; i < values->row_count(); ++i) {
    values->Next(&row);
    row.resize(width);
    if (request.normalizes) Normalize(&row);
    if (i > 0) json->push_back(',');
    put(i, row);
    if (absl::Status status = CheckRoom(*json, most_bytes); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PutEmbeddings(const TextRequest& request, const TextModel& model,
                           const TextUsage& usage, size_t most_bytes, TextValues* values,
                           std::string* json) {
  absl::StrAppend(json, R"({"object":"list","data":[)");
  const absl::Status status = PutVectors(
      request, most_bytes, values, json, [&](size_t index, const std::vector<float>& vector) {
        absl::StrAppend(json, R"({"object":"embedding","index":)", index, R"(,"embedding":)");
        request.as_base64 ? PutBase64(vector, json) : PutVector(vector, json);
        json->push_back('}');
      });
  absl::StrAppend(json, "],");
  PutField("model", model.name(), json);
  absl::StrAppend(json, R"(,"usage":{"prompt_tokens":)", usage.token_count, R"(,"total_tokens":)",
                  usage.token_count, "}}");
  return status;
}

absl::Status PutLists(const TextRequest& request, size_t most_bytes, TextValues* values,
                      std::string* json) {
  json->push_back('[');
  const absl::Status status =
      PutVectors(request, most_bytes, values, json,
                 [json](size_t, const std::vector<float>& vector) { PutVector(vector, json); });
  json->push_back(']');
  return status;
}

absl::Status PutOllama(const TextRequest& request, const TextModel& model, const TextUsage& usage,
                       size_t most_bytes, TextValues* values, std::string* json) {
  json->push_back('{');
  PutField("model", model.name(), json);
  absl::StrAppend(json, R"(,"embeddings":)");
  const absl::Status status = PutLists(request, most_bytes, values, json);
  absl::StrAppend(json, R"(,"total_duration":)", usage.duration_ns,
                  R"(,"load_duration":0,"prompt_eval_count":)", usage.token_count, "}");
  return status;
}

absl::Status PutOllamaOne(const TextRequest& request, size_t most_bytes, TextValues* values,
                          std::string* json) {
  std::string list;
  const absl::Status status = PutLists(request, most_bytes, values, &list);
  if (!status.ok()) return status;
  absl::StrAppend(json, R"({"embedding":)", list.substr(1, list.size() - 2), "}");
  return status;
}

// The highest first; equal ones in their order.
std::vector<size_t> Ranked(const std::vector<float>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&scores](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

absl::Status PutResults(const TextRequest& request, size_t most_bytes,
                        const std::vector<float>& scores, std::string* json) {
  std::vector<size_t> order = Ranked(scores);
  order.resize(std::min(order.size(), request.top_count.value_or(order.size())));
  json->push_back('[');
  for (const size_t index : order) {
    absl::StrAppend(json, R"({"index":)", index,
                    request.is_tei ? R"(,"score":)" : R"(,"relevance_score":)");
    PutNumber(scores[index], json);
    if (request.returns_texts) {
      absl::StrAppend(json, request.is_tei ? "," : R"(,"document":{)");
      PutField("text", request.pairs[index], json);
      if (!request.is_tei) json->push_back('}');
    }
    absl::StrAppend(json, "},");
    if (absl::Status status = CheckRoom(*json, most_bytes); !status.ok()) return status;
  }
  json->back() = ']';
  return absl::OkStatus();
}

absl::Status PutRanking(const TextRequest& request, const TextModel& model, const TextUsage& usage,
                        size_t most_bytes, TextValues* values, std::string* json) {
  if (values->width() != 1) return BadAnswer("has several scores of a pair");
  std::vector<float> scores;
  std::vector<float> row;
  for (size_t i = 0; i < values->row_count(); ++i) {
    values->Next(&row);
    scores.push_back(row[0]);
  }
  if (request.is_tei) return PutResults(request, most_bytes, scores, json);
  json->push_back('{');
  PutField("id", usage.id, json);
  json->push_back(',');
  PutField("model", model.name(), json);
  absl::StrAppend(json, R"(,"results":)");
  const absl::Status status = PutResults(request, most_bytes, scores, json);
  absl::StrAppend(json, R"(,"usage":{"prompt_tokens":)", usage.token_count, R"(,"total_tokens":)",
                  usage.token_count, "}}");
  return status;
}

void PutClasses(const TextModel& model, const std::vector<float>& scores, std::string* json) {
  json->push_back('[');
  for (const size_t index : Ranked(scores)) {
    json->push_back('{');
    PutField("label", model.LabelOf(index), json);
    absl::StrAppend(json, R"(,"score":)");
    PutNumber(scores[index], json);
    absl::StrAppend(json, "},");
  }
  json->back() = ']';
}

absl::Status PutPredictions(const TextRequest& request, const TextModel& model, size_t most_bytes,
                            TextValues* values, std::string* json) {
  if (request.is_list) json->push_back('[');
  std::vector<float> row;
  for (size_t i = 0; i < values->row_count(); ++i) {
    values->Next(&row);
    if (i > 0) json->push_back(',');
    PutClasses(model, row, json);
    if (absl::Status status = CheckRoom(*json, most_bytes); !status.ok()) return status;
  }
  if (request.is_list) json->push_back(']');
  return absl::OkStatus();
}

}  // namespace

absl::Status TextValues::Add(const Answer& answer, size_t row_count) {
  if (answer.outputs.size() != 1) return BadAnswer("has not one output");
  const AnswerOutput& output = answer.outputs[0];
  const bool is_row = output.dims.size() == 1 || output.dims.size() == 2;
  if (output.datatype != DataType::kFp32 || !is_row ||
      output.dims[0] != static_cast<int64_t>(row_count)) {
    return BadAnswer("is no row of numbers for each text");
  }
  if (!AllFinite(output.bytes)) return BadAnswer("has a number that is not finite");
  return AddBytes(output.bytes, row_count);
}

absl::Status TextValues::AddBytes(absl::string_view bytes, size_t row_count) {
  const size_t width = bytes.size() / sizeof(float) / row_count;
  if (width == 0 || (width_ != 0 && width != width_)) return BadAnswer("has rows of other lengths");
  parts_.push_back({bytes, row_count});
  row_count_ += row_count;
  width_ = width;
  return absl::OkStatus();
}

void TextValues::Next(std::vector<float>* row) {
  MPSD_CHECK(part_ < parts_.size());
  const Part& part = parts_[part_];
  row->resize(width_);
  std::memcpy(row->data(), part.bytes.data() + row_ * width_ * sizeof(float),
              width_ * sizeof(float));
  if (++row_ < part.row_count) return;
  ++part_;
  row_ = 0;
}

absl::Status WriteTextReply(TextRoute route, const TextRequest& request, const TextModel& model,
                            const TextUsage& usage, size_t most_bytes, TextValues* values,
                            std::string* json) {
  switch (route) {
    case TextRoute::kEmbeddings:
      return PutEmbeddings(request, model, usage, most_bytes, values, json);
    case TextRoute::kEmbed:
      return PutLists(request, most_bytes, values, json);
    case TextRoute::kOllama:
      return PutOllama(request, model, usage, most_bytes, values, json);
    case TextRoute::kOllamaOne:
      return PutOllamaOne(request, most_bytes, values, json);
    case TextRoute::kRerank:
      return PutRanking(request, model, usage, most_bytes, values, json);
    case TextRoute::kPredict:
      return PutPredictions(request, model, most_bytes, values, json);
    default:
      break;
  }
  MPSD_CHECK(false);
  return absl::OkStatus();
}

}  // namespace mpsd
