// EnvironmentWithout: the environment of a child process.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// This process's variables as "NAME=value", without the ones with a prefix. Thread-safe as long as
// no thread sets a variable.
std::vector<std::string> EnvironmentWithout(absl::Span<const absl::string_view> prefixes);

}  // namespace mpsd
