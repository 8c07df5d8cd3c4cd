#include "server/texts/prompts.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/json_bounds.h"
#include "server/texts/file_beside.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr char kPromptFile[] = "config_sentence_transformers.json";
constexpr size_t kMostDepth = 16;
constexpr size_t kMostValues = 10'000;
constexpr size_t kMostNamesTold = 16;

template <typename... Words>
absl::Status WrongPrompts(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

absl::StatusOr<Json> ParsePromptFile(absl::string_view text) {
  if (CheckJsonBounds(text, kMostDepth, kMostValues) != JsonBound::kWithin) {
    return WrongPrompts("is nested too deep, or has too many values");
  }
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return WrongPrompts("is no JSON object");
  return json;
}

absl::Status CheckPrompt(const std::string& name, const Json& text) {
  if (name.size() > kMaxPromptNameBytes) {
    return WrongPrompts("'prompts': a name has more than ", kMaxPromptNameBytes, " bytes");
  }
  if (!text.is_string()) return WrongPrompts("'prompts': '", name, "' must be a text");
  if (text.get_ref<const std::string&>().size() > kMaxPromptBytes) {
    return WrongPrompts("'prompts': '", name, "' has more than ", kMaxPromptBytes, " bytes");
  }
  return absl::OkStatus();
}

absl::Status CheckPrompts(const Json& prompts) {
  if (!prompts.is_object()) return WrongPrompts("'prompts' must be an object of texts");
  if (prompts.size() > kMaxPrompts) {
    return WrongPrompts("'prompts' has more than ", kMaxPrompts, " of them");
  }
  for (const auto& [name, text] : prompts.items()) {
    if (absl::Status status = CheckPrompt(name, text); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Prompts> Prompts::Parse(absl::string_view json) {
  const absl::StatusOr<Json> file = ParsePromptFile(json);
  if (!file.ok()) return file.status();
  Prompts prompts;
  const Json listed = file->value("prompts", Json());
  if (!listed.is_null()) {
    if (absl::Status status = CheckPrompts(listed); !status.ok()) return status;
    for (const auto& [name, text] : listed.items()) prompts.texts_[name] = text.get<std::string>();
  }
  const Json usual = file->value("default_prompt_name", Json());
  if (usual.is_null()) return prompts;
  const auto found = usual.is_string() ? prompts.texts_.find(usual.get_ref<const std::string&>())
                                       : prompts.texts_.end();
  if (found == prompts.texts_.end()) {
    return WrongPrompts("'default_prompt_name' must be one of the names in 'prompts'");
  }
  prompts.default_name_ = found->first;
  return prompts;
}

absl::StatusOr<absl::string_view> Prompts::Find(const std::optional<std::string>& name) const {
  const std::optional<std::string>& wanted = name.has_value() ? name : default_name_;
  if (!wanted.has_value()) return absl::string_view();
  if (const auto found = texts_.find(*wanted); found != texts_.end()) return found->second;
  if (texts_.empty()) return WrongPrompts("'prompt_name': the model has no prompts");
  std::string names;
  size_t told = 0;
  for (const auto& [known, text] : texts_) {
    absl::StrAppend(&names, told > 0 ? ", " : "", told < kMostNamesTold ? known : "…");
    if (++told > kMostNamesTold) break;
  }
  return WrongPrompts("'prompt_name' must be one of the model's prompts: ", names);
}

absl::StatusOr<Prompts> ReadPromptsBeside(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFileBeside(path, kPromptFile, kMaxSettingsBytes);
  if (!text.ok()) return WrongPrompts("beside ", path, ": ", text.status().message());
  if (text->empty()) return Prompts();
  absl::StatusOr<Prompts> prompts = Prompts::Parse(*text);
  if (prompts.ok()) return prompts;
  return WrongPrompts("beside ", path, ": ", kPromptFile, ": ", prompts.status().message());
}

}  // namespace mpsd
