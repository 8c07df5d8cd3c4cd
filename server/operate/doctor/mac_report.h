// MacReport: what a person with a Mac sends about it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

// The parts:
//
//   the versions of macOS and of the machine
//   the running daemon's workers: kind of libtorch, lanes, driver's guard
//   the last lines of the daemon's log
//   `bars`, a file that `./run bench --mac` has written
//
// A missing part is named with the reason. There is no token and no content of a request. `program`
// is mpsd itself. Runs programs, and blocks for a minute each at most.
std::string MacReportText(const std::string& program, const std::string& bars);

}  // namespace mpsd
