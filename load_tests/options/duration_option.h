// duration_option: times on the command lines of load tests: "10ms".
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace mpsd::load {

// Throws CLI::ValidationError if `text` is no duration.
int64_t DurationNs(const std::string& text);

// Sets `ns` to `standard`, which the help shows. With an empty `standard`, `ns` keeps its value,
// which `help` explains. REQUIRES: `standard` is a duration, or empty. The app owns the returned
// option.
CLI::Option* AddDuration(CLI::App* app, const std::string& name, int64_t* ns,
                         const std::string& standard, const std::string& help);

}  // namespace mpsd::load
