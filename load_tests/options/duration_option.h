// duration_option: times on the command lines of load tests, as configs write them: "10ms".
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace mpsd::load {

// Throws CLI::ValidationError, which the command line's parser shows, if `text` is no duration.
int64_t DurationNs(const std::string& text);

// Adds an option that sets `ns`. First sets `ns` to `standard`, which the help shows. If `standard`
// is empty, `ns` keeps its value, and `help` explains that value. REQUIRES: `standard` is a
// duration, or empty. Returns the option, which the app owns.
CLI::Option* AddDuration(CLI::App* app, const std::string& name, int64_t* ns,
                         const std::string& standard, const std::string& help);

}  // namespace mpsd::load
