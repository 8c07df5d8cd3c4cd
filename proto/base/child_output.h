// RunChild: runs a program of this installation to its end and keeps its output.
//
// So a process without libtorch asks one that has it: `mpsd-worker --devices` before models are
// placed, `--describe` for `mpsd inspect`. The answer is the last line, of JSON.
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
  int exit_code = 0;  // 128 + the signal's number if one killed it
  std::string text;   // stdout and stderr, at most 1 MiB
};

// Blocks until the program at `path` has ended and closed its output. After `timeout_ns` it is
// killed: DEADLINE_EXCEEDED. It gets this process's environment, overridden by `environment`,
// /dev/null as stdin, and a control socket to which nobody writes. Output beyond 1 MiB is dropped.
//
// Any other error: the program could not be started. An exit code other than 0 is no error. The
// child is always reaped. Thread-safe.
absl::StatusOr<ChildOutput> RunChild(const std::string& path, std::vector<std::string> arguments,
                                     int64_t timeout_ns,
                                     const std::map<std::string, std::string>& environment = {});

// Gets the output as it comes, and an empty piece several times a second. False kills the child.
using ChildListener = std::function<bool(std::string_view piece)>;

// Runs without a time-out. The output goes to `take` instead of the result. ABORTED: `take` had the
// child killed.
absl::StatusOr<ChildOutput> RunChild(const std::string& path, std::vector<std::string> arguments,
                                     const ChildListener& take);

// The last line that is not empty. Pure.
std::string LastLine(const std::string& text);

}  // namespace mpsd
