#include "server/config/servable_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "proto/link/json_object.h"

namespace mpsd {

std::string ServableNameFault(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  });
  const bool begins_well =
      !name.empty() && absl::ascii_isalnum(static_cast<unsigned char>(name[0]));
  if (plain && begins_well && name.size() <= kMaxNameBytes) return "";
  return absl::StrCat("must be 1 to ", kMaxNameBytes,
                      " letters, digits, '.', '_' or '-', a letter or digit first, not ",
                      JsonText(nlohmann::json(std::string(name))));
}

}  // namespace mpsd
