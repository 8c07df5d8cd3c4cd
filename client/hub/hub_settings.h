// HubSettings: which hub, which cache and which token, as the environment says.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd::hub {

// The variables are those of Python's huggingface_hub, so that both share one cache and one token.
struct HubSettings {
  std::string endpoint;     // without a slash at its end
  std::string cache;        // the folder with "models--ORG--NAME"
  std::string token;        // empty: none
  std::string authorities;  // a PEM file; empty: the system's
  bool offline = false;
};

// HF_ENDPOINT; HF_HUB_CACHE, else HF_HOME/hub, else .cache/huggingface/hub below HOME; HF_TOKEN,
// else the file HF_TOKEN_PATH, else HF_HOME/token; HF_HUB_OFFLINE; REQUESTS_CA_BUNDLE, else
// CURL_CA_BUNDLE, else SSL_CERT_FILE. INVALID_ARGUMENT where no
// variable tells a cache, or the endpoint is no http(s) address. `variable` gives a variable's
// value, or null. Reads the token's file.
absl::StatusOr<HubSettings> ReadHubSettings(
    const std::function<const char*(const char*)>& variable);

}  // namespace mpsd::hub
