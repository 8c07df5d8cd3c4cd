// HubSettings: which hub, which cache and which token, as the environment says.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd::hub {

// Python's huggingface_hub has the same settings, and shares cache and token.
struct HubSettings {
  std::string endpoint;     // without a slash at its end
  std::string cache;        // the folder with "models--ORG--NAME"
  std::string token;        // empty: none
  std::string authorities;  // a PEM file; empty: the system's
  bool offline = false;
};

// The first variable that is set says each setting:
//
//   endpoint      HF_ENDPOINT
//   cache         HF_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub,
//                 HOME/.cache/huggingface/hub
//   token         HF_TOKEN, the file HF_TOKEN_PATH, the file HF_HOME/token
//   authorities   REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE
//   offline       HF_HUB_OFFLINE
//
// With HOME a path may begin with "~/". `variable` may return null. Reads the token's file.
// INVALID_ARGUMENT: no variable tells a cache, or the endpoint is no http(s) address.
absl::StatusOr<HubSettings> ReadHubSettings(
    const std::function<const char*(const char*)>& variable);

}  // namespace mpsd::hub
