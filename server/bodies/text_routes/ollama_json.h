// OllamaJson: answers for Ollama's clients. Models' names have the tag ":latest", which a client
// may leave out.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/bodies/text_routes/text_model.h"
#include "server/bodies/text_routes/text_route.h"

namespace mpsd {

// Pure.
absl::string_view WithoutOllamaTag(absl::string_view name);

// For kOllamaTags and kOllamaPs: all models, since each is loaded.
//
// {"models":[{"name":"m:latest","model":"m:latest","modified_at","size":0,"digest":"","details"}]}
//
// Size, digest and times are unknown, and say so. Pure.
std::string OllamaModelsJson(TextRoute route, const std::vector<TextModel>& models);

// {"version":"…"}. Pure.
std::string OllamaVersionJson(absl::string_view version);

// {"details","model_info","capabilities":["embedding"],…}. Pure.
std::string OllamaShowJson(const TextModel& model);

// The field "model", or "name" of older clients, without the tag. INVALID_ARGUMENT without either.
// Pure.
absl::StatusOr<std::string> ReadOllamaShow(std::string body);

}  // namespace mpsd
