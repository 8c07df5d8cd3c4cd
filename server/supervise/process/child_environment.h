// What a child process is to find in its environment.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// This process's variables, as "NAME=value", but for those that begin with one of the prefixes.
// Thread-safe while nobody sets a variable.
std::vector<std::string> EnvironmentWithout(absl::Span<const absl::string_view> prefixes);

}  // namespace mpsd
