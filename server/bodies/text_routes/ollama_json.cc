#include "server/bodies/text_routes/ollama_json.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/bodies/json/body_padding.h"
#include "server/bodies/json/json_text.h"
#include "server/bodies/json/json_walk.h"

namespace mpsd {
namespace {

constexpr char kTag[] = ":latest";
constexpr char kNoTime[] = "1970-01-01T00:00:00Z";
constexpr char kDetails[] =
    R"({"parent_model":"","format":"","family":"","families":[],"parameter_size":"",)"
    R"("quantization_level":""})";

void PutModel(TextRoute route, const TextModel& model, std::string* json) {
  const std::string name = absl::StrCat(model.name(), kTag);
  absl::StrAppend(json, R"({"name":)");
  PutJsonText(name, json);
  absl::StrAppend(json, R"(,"model":)");
  PutJsonText(name, json);
  absl::StrAppend(json, R"(,"size":0,"digest":"","details":)", kDetails);
  if (route == TextRoute::kOllamaTags) {
    absl::StrAppend(json, R"(,"modified_at":")", kNoTime, "\"}");
  } else {
    absl::StrAppend(json, R"(,"expires_at":")", kNoTime, R"(","size_vram":0,"context_length":)",
                    MostTokens(model), "}");
  }
}

}  // namespace

absl::string_view WithoutOllamaTag(absl::string_view name) { return absl::StripSuffix(name, kTag); }

std::string OllamaModelsJson(TextRoute route, const std::vector<TextModel>& models) {
  std::string json = R"({"models":[)";
  for (const TextModel& model : models) {
    if (json.back() == '}') json.push_back(',');
    PutModel(route, model, &json);
  }
  return absl::StrCat(json, "]}");
}

std::string OllamaVersionJson(absl::string_view version) {
  return absl::StrCat(R"({"version":")", version, "\"}");
}

std::string OllamaShowJson(const TextModel& model) {
  const bool embeds = model.task == ModelTask::kEmbedding;
  return absl::StrCat(R"({"modelfile":"","parameters":"","template":"","license":"","details":)",
                      kDetails, R"(,"model_info":{"general.architecture":"encoder",)",
                      R"("encoder.embedding_length":)", model.width,
                      R"(,"encoder.context_length":)", MostTokens(model), R"(},"modified_at":")",
                      kNoTime, R"(","capabilities":[)", embeds ? R"("embedding")" : "", "]}");
}

absl::StatusOr<std::string> ReadOllamaShow(std::string body) {
  std::string name;
  const size_t bytes = body.size();
  body.append(kBodyPadding, '\0');
  const absl::Status status = ReadDocument(body.data(), bytes, body.size(),
                                           [&name](absl::string_view key, ondemand::value value) {
                                             if (key != "model" && key != "name")
                                               return SkipValue(value, 1);
                                             absl::string_view text;
                                             absl::Status read = ReadText(value, key, &text);
                                             if (read.ok() && name.empty())
                                               name = std::string(WithoutOllamaTag(text));
                                             return read;
                                           });
  if (!status.ok()) return status;
  if (name.empty()) return NoField("model");
  return name;
}

}  // namespace mpsd
