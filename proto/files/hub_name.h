// HubName: a model at a hub, as a person writes it: "ORG/NAME" or "ORG/NAME@REVISION".
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::hub {

struct HubName {
  std::string org;
  std::string name;
  std::string revision = "main";  // a branch, a tag or a commit

  // "ORG/NAME", as the hub's own pages write it.
  std::string Repository() const { return org + "/" + name; }
};

// Nothing where the text is no such name. Org and name have letters, digits, '.', '_' and '-', at
// most 96 each, begin with a letter or digit, and have no "--" or "..". A revision may also have
// '/', but no part of it is "..". Pure.
std::optional<HubName> ParseHubName(absl::string_view text);

// The name as written for a folder of the hub's cache: "NAME" for
// ".../models--ORG--NAME/snapshots/COMMIT". Nothing for any other path. Pure.
std::optional<std::string> NameOfSnapshot(absl::string_view path);

}  // namespace mpsd::hub
