// duration_option: times on the command lines of load tests, as configs write them: "10ms".
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace mpsd::load {

// Throws CLI::ValidationError, which the parser of a command line shows, where `text` is no
// duration.
int64_t DurationNs(const std::string& text);

// Adds an option that sets `ns`, which has the value of `standard` until then. The help tells the
// standard. REQUIRES: `standard` is a duration, or empty: then `ns` is as it was, and `help` says
// what that means. Returns the option, which the app owns.
CLI::Option* AddDuration(CLI::App* app, const std::string& name, int64_t* ns,
                         const std::string& standard, const std::string& help);

}  // namespace mpsd::load
