// RunChild: runs a program of this installation to its end and keeps its output.
//
// How a process without libtorch asks a program that has it: `mpsd-worker --devices` before models
// are placed (server/models/host_survey.h), `mpsd-worker --describe` for `mpsd inspect`
// (client/cli/inspect_verb.h). Both answer with one line of JSON, their last. Long-lived processes
// belong to the supervisor (server/supervise/process).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd {

struct ChildOutput {
  int exit_code = 0;  // 128 + the signal's number if a signal killed it
  std::string text;   // stdout and stderr, at most 1 MiB
};

// Runs the program at `path` with `arguments` (argv[1…]) and blocks until it has ended and closed
// its output. After `timeout_ns` it is killed: DEADLINE_EXCEEDED. It gets this process's
// environment, overridden by `environment`, /dev/null as stdin, and a control socket to which
// nobody writes. Output beyond 1 MiB is read and dropped, so that a program that writes without end
// runs into the time-out.
//
// Any other error: the program could not be started. An exit code other than 0 is no error. The
// child is always reaped. Thread-safe.
absl::StatusOr<ChildOutput> RunChild(const std::string& path, std::vector<std::string> arguments,
                                     int64_t timeout_ns,
                                     const std::map<std::string, std::string>& environment = {});

// Gets the child's output as it comes, and an empty piece several times a second. False: the child
// is killed.
using ChildListener = std::function<bool(std::string_view piece)>;

// The same without a time-out, for a child that works long. `take` gets the output in place of the
// result's text. ABORTED: `take` had the child killed.
absl::StatusOr<ChildOutput> RunChild(const std::string& path, std::vector<std::string> arguments,
                                     const ChildListener& take);

// The last line that is not empty, without its line break; empty if there is none. Pure.
std::string LastLine(const std::string& text);

}  // namespace mpsd
