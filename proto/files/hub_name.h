// HubName: a model at a hub, as a person writes it: "ORG/NAME" or "ORG/NAME@REVISION", perhaps with
// the "hf:" of a config in front.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::hub {

inline constexpr absl::string_view kHubPrefix = "hf:";

struct HubName {
  std::string org;
  std::string name;
  std::string revision = "main";  // branch, tag or commit

  std::string Repository() const { return org + "/" + name; }
};

// Org and name have letters, digits, '.', '_' and '-', at most 96, begin with a letter or digit,
// and have no "--" or "..". A revision may also have '/', but no part "..". Pure.
std::optional<HubName> ParseHubName(absl::string_view text);

// "NAME" for ".../models--ORG--NAME/snapshots/COMMIT", a folder of the hub's cache. Pure.
std::optional<std::string> NameOfSnapshot(absl::string_view path);

}  // namespace mpsd::hub
