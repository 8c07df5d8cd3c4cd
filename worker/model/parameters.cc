#include "worker/model/parameters.h"

#include "absl/strings/str_cat.h"

namespace mpsd {

absl::Status ReadParameters(
    const std::map<std::string, std::string>& parameters,
    absl::FunctionRef<absl::Status(const std::string& key, const std::string& text)> read) {
  for (const auto& [key, text] : parameters) {
    const absl::Status status = read(key, text);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("parameters.", key, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace mpsd
