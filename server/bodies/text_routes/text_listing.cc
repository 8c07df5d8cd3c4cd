#include "server/bodies/text_routes/text_listing.h"

#include "absl/strings/str_cat.h"
#include "server/bodies/json/json_text.h"
#include "server/bodies/text_routes/text_rows.h"

namespace mpsd {
namespace {

void PutEntry(const TextModel& model, std::string* json) {
  absl::StrAppend(json, R"({"id":)");
  PutJsonText(model.name(), json);
  absl::StrAppend(json, R"(,"object":"model","created":0,"owned_by":"mpsd","task":")",
                  NameOf(model.task), "\"}");
}

// {"0":"anger","1":"joy"}, and the reverse.
void PutLabels(const TextModel& model, std::string* json) {
  absl::StrAppend(json, R"({"id2label":{)");
  for (size_t i = 0; i < model.width; ++i) {
    absl::StrAppend(json, i > 0 ? "," : "", "\"", i, "\":");
    PutJsonText(model.LabelOf(i), json);
  }
  absl::StrAppend(json, R"(},"label2id":{)");
  for (size_t i = 0; i < model.width; ++i) {
    if (i > 0) json->push_back(',');
    PutJsonText(model.LabelOf(i), json);
    absl::StrAppend(json, ":", i);
  }
  absl::StrAppend(json, "}}");
}

// As TEI writes it. Weights of 8 bits compute in float.
absl::string_view DtypeOf(Precision precision) {
  if (precision == Precision::kBf16) return "bfloat16";
  return precision == Precision::kFp16 ? "float16" : "float32";
}

void PutType(const TextModel& model, std::string* json) {
  absl::StrAppend(json, R"(,"model_type":{)");
  if (model.task == ModelTask::kEmbedding) {
    absl::StrAppend(json, R"("embedding":{"dimensions":)", model.width, "}}");
    return;
  }
  absl::StrAppend(json, model.task == ModelTask::kRerank ? R"("reranker":)" : R"("classifier":)");
  PutLabels(model, json);
  json->push_back('}');
}

}  // namespace

std::string ModelListJson(const std::vector<TextModel>& models) {
  std::string json = R"({"object":"list","data":[)";
  for (const TextModel& model : models) {
    PutEntry(model, &json);
    json.push_back(',');
  }
  if (!models.empty()) json.pop_back();
  absl::StrAppend(&json, "]}");
  return json;
}

std::string ModelEntryJson(const TextModel& model) {
  std::string json;
  PutEntry(model, &json);
  return json;
}

std::string InfoJson(const TextModel& model, size_t most_rows, absl::string_view version,
                     const std::vector<UsualModel>& usual) {
  std::string json = R"({"model_id":)";
  PutJsonText(model.name(), &json);
  absl::StrAppend(&json, R"(,"model_sha":null,"model_dtype":")", DtypeOf(model.served->precision),
                  "\"");
  PutType(model, &json);
  absl::StrAppend(&json, R"(,"max_input_length":)", MostTokens(model),
                  R"(,"max_client_batch_size":)", most_rows, R"(,"auto_truncate":)",
                  CutsByDefault(model) ? "true" : "false", R"(,"version":)");
  PutJsonText(version, &json);
  absl::StrAppend(&json, R"(,"default_for":{)");
  for (size_t i = 0; i < usual.size(); ++i) {
    absl::StrAppend(&json, i > 0 ? "," : "", "\"", NameOf(usual[i].task), "\":");
    PutJsonText(usual[i].name, &json);
  }
  absl::StrAppend(&json, "}}");
  return json;
}

}  // namespace mpsd
