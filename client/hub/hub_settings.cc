#include "client/hub/hub_settings.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/files/whole_file.h"

namespace mpsd::hub {
namespace {

constexpr char kDefaultEndpoint[] = "https://huggingface.co";
constexpr uint64_t kMostTokenBytes = 4096;

bool IsOn(const std::string& value) {
  const std::string upper = absl::AsciiStrToUpper(value);
  return upper == "1" || upper == "ON" || upper == "YES" || upper == "TRUE";
}

}  // namespace

absl::StatusOr<HubSettings> ReadHubSettings(
    const std::function<const char*(const char*)>& variable) {
  const auto value = [&variable](const char* name) {
    const char* const text = variable(name);
    return std::string(absl::StripAsciiWhitespace(text == nullptr ? "" : text));
  };
  // A shell has not seen what stands in a file of variables.
  const auto path_in = [&value](const char* name) {
    const std::string path = value(name);
    const std::string home = value("HOME");
    const bool is_in_home = path == "~" || absl::StartsWith(path, "~/");
    return is_in_home && !home.empty() ? home + path.substr(1) : path;
  };
  HubSettings settings;
  settings.endpoint = value("HF_ENDPOINT");
  if (settings.endpoint.empty()) settings.endpoint = kDefaultEndpoint;
  settings.endpoint = std::string(absl::StripSuffix(settings.endpoint, "/"));
  if (!absl::StartsWith(settings.endpoint, "https://") &&
      !absl::StartsWith(settings.endpoint, "http://")) {
    return absl::InvalidArgumentError("HF_ENDPOINT is no http:// or https:// address");
  }
  std::string home = path_in("HF_HOME");
  const std::string cache_home = value("XDG_CACHE_HOME");
  if (home.empty() && !cache_home.empty()) home = cache_home + "/huggingface";
  if (home.empty() && !value("HOME").empty()) home = value("HOME") + "/.cache/huggingface";
  settings.cache = path_in("HF_HUB_CACHE");
  if (settings.cache.empty() && !home.empty()) settings.cache = home + "/hub";
  if (settings.cache.empty()) {
    return absl::InvalidArgumentError(
        "no HF_HUB_CACHE, HF_HOME or HOME says where models are kept");
  }
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (settings.authorities.empty()) settings.authorities = value(name);
  }
  settings.offline = IsOn(value("HF_HUB_OFFLINE"));
  settings.token = value("HF_TOKEN");
  if (settings.token.empty()) {
    std::string path = path_in("HF_TOKEN_PATH");
    if (path.empty()) path = home + "/token";
    const absl::StatusOr<std::string> token = ReadWholeFile(path, kMostTokenBytes);
    if (token.ok()) settings.token = std::string(absl::StripAsciiWhitespace(*token));
  }
  return settings;
}

}  // namespace mpsd::hub
