#include "client/tune/tune_config.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/tune/json_edit.h"
#include "proto/files/hub_name.h"
#include "proto/link/json_object.h"

namespace mpsd::tune {
namespace {

using nlohmann::ordered_json;

// Outside of a model's stanza.
constexpr const char* kSpeedKeys[] = {"limits",       "sandbox",   "cuda_mps",
                                      "mps_fallback", "resources", "device_share"};

// Outside of models, as JSON pointers.
constexpr const char* kPaths[] = {
    "/listen/tls/certificate", "/listen/tls/key", "/listen/tls/client_ca",
    "/access/tokens",          "/state_dir",      "/log/file",
    "/log/requests",           "/trace/file",     "/model_repository"};
constexpr const char* kSockets[] = {"/listen/grpc", "/listen/http", "/listen/control"};
constexpr const char* kModelPaths[] = {"/path", "/text/tokenizer"};

std::string TextOf(const ordered_json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

uint32_t CountOf(const ordered_json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<uint32_t>() : 0;
}

std::string NameOf(const ordered_json& stanza) { return TextOf(stanza, "name"); }

bool IsObjectOrNone(const ordered_json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_object();
}

std::string UnknownModel(const ordered_json& document, const std::string& model) {
  std::vector<std::string> names;
  const auto found = document.find("models");
  if (found != document.end()) {
    for (const ordered_json& stanza : *found) names.push_back(NameOf(stanza));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string text = absl::StrCat("the config has no model '", model, "'");
  if (!names.empty()) absl::StrAppend(&text, DidYouMean(model, views, "it has"));
  if (document.contains("model_repository")) {
    absl::StrAppend(&text, "; only one of `models` can be tuned, none of a model_repository");
  }
  return text;
}

// A model at a hub has no path.
void MakeAbsolute(const std::string& folder, const char* pointer, ordered_json* json) {
  const ordered_json::json_pointer place(pointer);
  if (!json->contains(place)) return;
  ordered_json& value = (*json)[place];
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text.empty() || absl::StartsWith(text, hub::kHubPrefix)) return;
  const std::filesystem::path path = text;
  if (path.is_relative()) value = (folder / path).lexically_normal().string();
}

void MakeModelAbsolute(const std::string& folder, ordered_json* stanza) {
  if (!stanza->is_object()) return;
  for (const char* pointer : kModelPaths) MakeAbsolute(folder, pointer, stanza);
}

// `json` is an address or a list; each "unix:PATH" becomes absolute.
void MakeSocketsAbsolute(const std::string& folder, ordered_json* json) {
  if (json->is_array()) {
    for (ordered_json& address : *json) MakeSocketsAbsolute(folder, &address);
  }
  if (!json->is_string()) return;
  const std::string address = json->get<std::string>();
  absl::string_view path = address;
  if (!absl::ConsumePrefix(&path, "unix:") || path.empty() || path[0] == '/') return;
  *json = absl::StrCat(
      "unix:", (folder / std::filesystem::path(std::string(path))).lexically_normal().string());
}

std::string Dump(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string PrivateAddress(absl::string_view folder) {
  return absl::StrCat("unix:", folder, "/mpsd.sock");
}

absl::StatusOr<TuneConfig> TuneConfig::Parse(absl::string_view text, std::string folder,
                                             std::string model) {
  ordered_json document =
      ordered_json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false,
                          /*ignore_comments=*/true);
  if (!document.is_object()) return absl::InvalidArgumentError("the config is no JSON object");
  const auto found = document.find("models");
  const ordered_json models = found == document.end() ? ordered_json::array() : *found;
  if (!models.is_array()) return absl::InvalidArgumentError("models: must be a list");
  std::optional<size_t> index;
  for (size_t i = 0; i < models.size(); ++i) {
    if (NameOf(models[i]) != model) continue;
    if (!index || CountOf(models[i], "version") > CountOf(models[*index], "version")) index = i;
  }
  if (!index) return absl::NotFoundError(UnknownModel(document, model));
  if (!IsObjectOrNone(document, "limits") || !IsObjectOrNone(models[*index], "placement")) {
    return absl::InvalidArgumentError("limits and placement must be objects");
  }
  return TuneConfig(text, std::move(document), std::move(folder), std::move(model), *index);
}

TuneConfig::TuneConfig(absl::string_view text, ordered_json document, std::string folder,
                       std::string model, size_t index)
    : text_(text),
      document_(std::move(document)),
      folder_(std::move(folder)),
      model_(std::move(model)),
      index_(index) {}

Placement TuneConfig::placement() const {
  const auto found = stanza().find("placement");
  if (found == stanza().end()) return {};
  return {CountOf(*found, "processes"), CountOf(*found, "lanes"), CountOf(*found, "threads")};
}

uint32_t TuneConfig::max_batch_size() const { return CountOf(stanza(), "max_batch_size"); }

size_t TuneConfig::others() const { return document_["models"].size() - 1; }

std::string TuneConfig::PrivateText(const Candidate& candidate, absl::string_view folder) const {
  ordered_json stanza = ChangedStanza(candidate);
  stanza.erase("response_cache");
  MakeModelAbsolute(folder_, &stanza);
  ordered_json config = {
      {"listen", {{"grpc", ordered_json::array({PrivateAddress(folder)})}, {"http", ""}}},
      {"state_dir", absl::StrCat(folder, "/state")},
      {"models", ordered_json::array({stanza})}};
  for (const char* key : kSpeedKeys) {
    if (document_.contains(key)) config[key] = document_[key];
  }
  config["limits"]["drain_timeout"] = "1s";
  config["limits"]["lame_duck"] = "0";
  return Dump(config);
}

std::string TuneConfig::ChangedText(const Candidate& candidate, const std::string& folder) const {
  ordered_json config = document_;
  config["models"][index_] = ChangedStanza(candidate);
  if (folder == folder_) return EditedJson(text_, config);
  for (const char* pointer : kPaths) MakeAbsolute(folder_, pointer, &config);
  for (ordered_json& model : config["models"]) MakeModelAbsolute(folder_, &model);
  for (const char* pointer : kSockets) {
    const ordered_json::json_pointer place(pointer);
    if (config.contains(place)) MakeSocketsAbsolute(folder_, &config[place]);
  }
  return EditedJson(text_, config);
}

ordered_json TuneConfig::Changes(const Candidate& candidate) const {
  ordered_json changes = ordered_json::object();
  const Placement now = placement();
  const auto change = [](uint32_t wanted, uint32_t before, const char* key, ordered_json* json) {
    if (wanted > 0 && wanted != before) (*json)[key] = wanted;
  };
  ordered_json placement = ordered_json::object();
  change(candidate.placement.processes, now.processes, "processes", &placement);
  change(candidate.placement.lanes, now.lanes, "lanes", &placement);
  change(candidate.placement.threads, now.threads, "threads", &placement);
  if (!placement.empty()) changes["placement"] = placement;
  change(candidate.max_batch_size, max_batch_size(), "max_batch_size", &changes);
  const bool is_precise =
      candidate.precision.empty() || TextOf(stanza(), "precision") == candidate.precision;
  if (!is_precise) changes["precision"] = candidate.precision;
  return changes;
}

ordered_json TuneConfig::ChangedStanza(const Candidate& candidate) const {
  ordered_json changed = stanza();
  const ordered_json changes = Changes(candidate);  // outlives the loop
  for (const auto& change : changes.items()) {
    ordered_json& value = changed[change.key()];
    if (!change.value().is_object()) {
      value = change.value();
      continue;
    }
    for (const auto& member : change.value().items()) value[member.key()] = member.value();
  }
  return changed;
}

}  // namespace mpsd::tune
