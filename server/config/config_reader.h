// ConfigReader: functions that each read one object of a config document.
//
//   ReadConfig ─▶ ParseConfig ─▶ JSON ─▶ ReadConfigDocument ─▶ Config      (config.h)
//                                          │ listen      ReadListenConfig
//                                          │ access      ReadAccessConfig
//                                          │ models[i]   ReadModelConfig
//                                          ▼
//                                      CheckWhoGetsIn: do listen and access suit each other?
//
// Rules for all of them:
//   1. An absent key keeps what the target holds, which is Config's default.
//   2. Mistakes go to `errors` with their path in the document. Reading goes on, so that an
//      operator sees all mistakes at once.
//   3. The target is complete only if `errors` is empty afterwards.
//   4. `folder` is the absolute path of the config file's folder. Relative paths start there.
//   5. They look at the files that the document names: never on the request's path.
// All are thread-compatible.
#pragma once

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Reads `limits` before `models`, since a model's queue must hold the largest message. At most
// kMaxModels models.
void ReadConfigDocument(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                        Config* config);

// At most 16 different addresses in each list. The files of `listen.tls` must exist; other users
// may not read or write the key file. REQUIRES: listen->grpc holds the default, with which other
// addresses are compared.
absl::Span<const std::string_view> ListenKeys();
void ReadListenConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      ListenConfig* listen);

// Also reads the file of tokens, which holds digests alone. Even an empty object puts rules
// in force: they refuse all that no rule allows.
absl::Span<const std::string_view> AccessKeys();
void ReadAccessConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      AccessRules* access);

// Reports addresses that let in every other host without the config saying so, and rules that apply
// to no caller. A reload compares the new rules with the old addresses. REQUIRES: `listen` and
// `access` were read.
void CheckWhoGetsIn(const Config& config, JsonErrors* errors);

// Also reports keys that cannot stand beside it. REQUIRES: the model's other keys were read.
void ReadSequences(const JsonObject& object, ModelConfig* model);

// `path` is the model's place, "models[0]". Stamps the model's file but does not open it: the
// worker does, in its sandbox. If `json` is no object the result has no name.
ModelConfig ReadModelConfig(const nlohmann::json& json, const std::string& path,
                            const std::string& folder, const LimitsConfig& limits,
                            JsonErrors* errors);

// For a model with "steps", which has fewer keys and must name its inputs and outputs.
void ReadStepsConfig(const JsonObject& object, const LimitsConfig& limits, ModelConfig* model);

// Compares steps with the models that they name, as far as the config tells; the load checks the
// rest. With a repository a model may exist that is not in the config. REQUIRES: `models` were read
// from the list at "models".
void CheckSteps(const std::vector<ModelConfig>& models, bool has_repository, JsonErrors* errors);

}  // namespace mpsd
