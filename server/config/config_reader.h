// ConfigReader: functions that read one object of a config document each.
//
// They stand between nlohmann's parser, which has turned the text into JSON, and Config, which is
// all that the rest of the daemon sees:
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
//   2. Mistakes go to `errors` with their path in the document: an unknown key, a wrong type, a
//      number beyond its bounds, a missing file. Reading goes on, so that an operator sees all
//      mistakes at once.
//   3. The target is complete only if `errors` is empty afterwards. Until then it serves only for
//      further reading.
//   4. `folder` is the absolute path of the config file's folder. Relative paths start there.
//   5. They look at the files that the document names, and so may wait for the file system. main
//      calls them at the start, the thread `reloader` at a reload; never the request's path.
// All are thread-compatible: they share nothing but their arguments.
#pragma once

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Reads a whole document; ParseConfig() finds the lines of mistakes. Reads `limits` before
// `models`, since a model's queue must hold the largest message, and calls CheckWhoGetsIn(). At
// most kMaxModels models.
void ReadConfigDocument(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                        Config* config);

// Reads `listen`: at most 16 different addresses in each list. The files of `listen.tls` must
// exist, and other users may not read or write the key file. ListenKeys() are its keys. REQUIRES:
// listen->grpc holds the default; the other addresses are compared with it.
absl::Span<const std::string_view> ListenKeys();
void ReadListenConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      ListenConfig* listen);

// Reads `access` and the file of tokens that it names. Config and file hold only digests of tokens.
// Even an empty object puts rules in force: whatever no rule allows is refused. AccessKeys() are
// its keys.
absl::Span<const std::string_view> AccessKeys();
void ReadAccessConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      AccessRules* access);

// Reports each address that would let in every other host without the config saying so, and each
// rule that can never apply to a caller. At a reload the daemon calls it once more with the new
// rules and the old addresses, which change only with a restart. REQUIRES: `listen` and `access` of
// `config` were read.
void CheckWhoGetsIn(const Config& config, JsonErrors* errors);

// Reads a model's `sequences`, and reports keys that cannot stand beside it. REQUIRES: the model's
// other keys were read.
void ReadSequences(const JsonObject& object, ModelConfig* model);

// Reads one element of `models`; `path` is its place, "models[0]". Stamps the model's file but does
// not open it: the worker does, in its sandbox. The queue must hold one message of `limits`. If
// `json` is no object the result has no name.
ModelConfig ReadModelConfig(const nlohmann::json& json, const std::string& path,
                            const std::string& folder, const LimitsConfig& limits,
                            JsonErrors* errors);

// Reads an element of `models` with the key "steps": a model that runs others. It has fewer keys,
// and must name its inputs and outputs.
void ReadStepsConfig(const JsonObject& object, const LimitsConfig& limits, ModelConfig* model);

// Reports where a model's steps do not fit the models that they name, as far as the config tells.
// The rest is in those models' files and is checked when they are loaded. With a repository, a
// model may exist that is not in the config. REQUIRES: `models` were read from the list at
// "models".
void CheckSteps(const std::vector<ModelConfig>& models, bool has_repository, JsonErrors* errors);

}  // namespace mpsd
