// OllamaJson: answers for Ollama's clients about models that take texts. Their names have a tag,
// here always ":latest", which a client may leave out.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/bodies/text_routes/text_model.h"
#include "server/bodies/text_routes/text_route.h"

namespace mpsd {

// The model's name without the tag ":latest". Pure.
absl::string_view WithoutOllamaTag(absl::string_view name);

// The answer of kOllamaTags or kOllamaPs: all models in both cases, since each is loaded.
//
// {"models":[{"name":"m:latest","model":"m:latest","modified_at","size":0,"digest":"","details"}]}
//
// Size, digest and times are unknown, and have the values that say so. Pure.
std::string OllamaModelsJson(TextRoute route, const std::vector<TextModel>& models);

// {"version":"…"}. Pure.
std::string OllamaVersionJson(absl::string_view version);

// The answer of kOllamaShow: {"details","model_info","capabilities":["embedding"],…}. Pure.
std::string OllamaShowJson(const TextModel& model);

// The model in the body of kOllamaShow, without its tag: the field "model", or "name" of older
// clients. INVALID_ARGUMENT for a body without either. Pure.
absl::StatusOr<std::string> ReadOllamaShow(std::string body);

}  // namespace mpsd
