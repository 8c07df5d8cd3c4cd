// MacReport: what a person with a Mac sends about it, besides the findings of `mpsd doctor`.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

// The parts, one after the other:
//
//   the versions of macOS and of the machine
//   the running daemon's workers: kind of libtorch, lanes, driver's guard
//   the last lines of the daemon's log
//   `bars`, a file that `./run bench --mac` has written
//
// A part that is not there is named with the reason. The text holds no token and no content of a
// request: neither the log nor `mpsd ps` has any. `program` is mpsd itself. Runs programs, and
// blocks for as long as they need, at most a minute each.
std::string MacReportText(const std::string& program, const std::string& bars);

}  // namespace mpsd
