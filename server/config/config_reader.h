// ConfigReader: the functions that read one object of a config document each.
//
// They stand between nlohmann's parser, which has made JSON of the text, and Config, which is all
// that the rest of the daemon sees:
//
//   ReadConfig ─▶ ParseConfig ─▶ JSON ─▶ ReadConfigDocument ─▶ Config      (config.h)
//                                          │ listen      ReadListenConfig
//                                          │ access      ReadAccessConfig
//                                          │ models[i]   ReadModelConfig
//                                          ▼
//                                      CheckWhoGetsIn: do listen and access suit each other?
//
// Rules for all of them:
//   1. A key that is absent keeps what the target holds, which is the default of Config.
//   2. An unknown key, a wrong type, a number beyond its bounds, a file that is not there:
//      each is reported to `errors` with its path in the document, and reading goes on, so that an
//      operator sees all mistakes of a config at once.
//   3. The target is whole only when `errors` is empty afterwards. It may be used for nothing but
//      further reading until then.
//   4. `folder` is absolute: it is the folder of the config file, and relative paths of the
//      document start from it.
//   5. They look at the files that the document names, and so may wait for the file system. Main
//      calls them at the start, the thread `reloader` at a reload: never the request's path.
// All of them are thread-compatible: they share nothing but their arguments.
#pragma once

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Reads a whole document, all but its text: the line of a mistake is ParseConfig()'s affair. Reads
// `limits` before `models`, since the queue of a model must hold the largest message, and checks
// with CheckWhoGetsIn(). At most kMaxModels models.
void ReadConfigDocument(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                        Config* config);

// Reads the value of `listen`: at most 16 addresses of each list, none of which may stand twice.
// The files of `listen.tls` must be there, and others may not read or write the key's. REQUIRES:
// listen->grpc holds the default, with which the other addresses are compared. ListenKeys() are its
// keys.
absl::Span<const std::string_view> ListenKeys();
void ReadListenConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      ListenConfig* listen);

// Reads the value of `access`, and the file of tokens that it names; the texts of tokens are in no
// config and in no file, only their digests. That the object is there puts rules in force, even if
// it is empty: whatever no rule allows is refused then. AccessKeys() are its keys.
absl::Span<const std::string_view> AccessKeys();
void ReadAccessConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      AccessRules* access);

// Reports each address that would let in every other host although the config does not say so, and
// each rule that can never apply to a caller. The daemon calls it once more at a reload, when the
// new rules meet the old addresses: those change with a restart only. REQUIRES: `listen` and
// `access` of `config` were read.
void CheckWhoGetsIn(const Config& config, JsonErrors* errors);

// Reads the `sequences` of a model, and what cannot be beside it. REQUIRES: the model's other keys
// were read.
void ReadSequences(const JsonObject& object, ModelConfig* model);

// Reads one element of `models`; `path` is its place, "models[0]". The model's file is stamped but
// not opened: whether it holds a model is the worker's to find out, in its sandbox. The queue must
// hold one message of `limits`. Where `json` is no object the result has no name.
ModelConfig ReadModelConfig(const nlohmann::json& json, const std::string& path,
                            const std::string& folder, const LimitsConfig& limits,
                            JsonErrors* errors);

// Reads an element of `models` that has the key "steps": a model that runs others. Its keys are
// fewer, and its inputs and outputs must be there.
void ReadStepsConfig(const JsonObject& object, const LimitsConfig& limits, ModelConfig* model);

// Reports where the steps of a model, and the models that they name, do not fit each other, as far
// as the config tells: what it does not say of a model is in that model's file, and found out when
// it is loaded. With a repository a model that is not in the config may be there. REQUIRES:
// `models` were read from the list at "models".
void CheckSteps(const std::vector<ModelConfig>& models, bool has_repository, JsonErrors* errors);

}  // namespace mpsd
