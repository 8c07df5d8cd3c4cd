#include "proto/files/hub_name.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mpsd::hub {
namespace {

constexpr size_t kMostNameBytes = 96;
constexpr size_t kMostRevisionBytes = 200;

bool IsNameLetter(char letter) {
  return absl::ascii_isalnum(static_cast<unsigned char>(letter)) || letter == '.' ||
         letter == '_' || letter == '-';
}

bool IsName(absl::string_view text) {
  return !text.empty() && text.size() <= kMostNameBytes &&
         absl::ascii_isalnum(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), IsNameLetter) && !absl::StrContains(text, "--") &&
         !absl::StrContains(text, "..");
}

bool IsRevision(absl::string_view text) {
  if (text.empty() || text.size() > kMostRevisionBytes) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  return std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
    return !part.empty() && part != "." && part != ".." &&
           std::all_of(part.begin(), part.end(), IsNameLetter);
  });
}

}  // namespace

std::optional<HubName> ParseHubName(absl::string_view text) {
  HubName name;
  absl::ConsumePrefix(&text, kHubPrefix);
  const size_t at = text.find('@');
  if (at != absl::string_view::npos) {
    name.revision = std::string(text.substr(at + 1));
    text = text.substr(0, at);
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  if (parts.size() != 2 || !IsName(parts[0]) || !IsName(parts[1]) || !IsRevision(name.revision)) {
    return std::nullopt;
  }
  name.org = std::string(parts[0]);
  name.name = std::string(parts[1]);
  return name;
}

std::optional<std::string> NameOfSnapshot(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(absl::StripSuffix(path, "/"), '/');
  if (parts.size() < 3 || parts[parts.size() - 2] != "snapshots") return std::nullopt;
  absl::string_view folder = parts[parts.size() - 3];
  if (!absl::ConsumePrefix(&folder, "models--")) return std::nullopt;
  const size_t dashes = folder.find("--");
  if (dashes == absl::string_view::npos || dashes + 2 == folder.size()) return std::nullopt;
  return std::string(folder.substr(dashes + 2));
}

}  // namespace mpsd::hub
