#include "server/request/find_served.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace mpsd {

absl::StatusOr<std::shared_ptr<ServedModel>> FindServed(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version) {
  std::shared_ptr<ServedModel> model = models.Find(name);
  if (model == nullptr && !models.Knows(name)) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' is not found"));
  }
  if (version.empty() && model == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' has no available versions"));
  }
  if (version.empty()) return model;
  if (version == "-1") {  // Triton's mark for "any", which clients must not send
    return absl::InvalidArgumentError("invalid model version specified '-1'");
  }
  if (!std::all_of(version.begin(), version.end(), absl::ascii_isdigit) || version.size() > 19) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to get model version from specified version string '", version, "'"));
  }
  model = models.Find(name, version);
  if (model == nullptr && models.Knows(name, version)) {
    return absl::UnavailableError(absl::StrCat("Request for unknown model: '", name, "' version ",
                                               version, " is not at ready state"));
  }
  if (model == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' version ", version, " is not found"));
  }
  return model;
}

}  // namespace mpsd
