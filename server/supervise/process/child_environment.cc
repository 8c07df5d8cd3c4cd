#include "server/supervise/process/child_environment.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"

extern "C" char** environ;

namespace mpsd {

std::vector<std::string> EnvironmentWithout(absl::Span<const absl::string_view> prefixes) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const auto begins = [variable](absl::string_view prefix) {
      return absl::StartsWith(*variable, prefix);
    };
    if (absl::c_none_of(prefixes, begins)) environment.push_back(*variable);
  }
  return environment;
}

}  // namespace mpsd
