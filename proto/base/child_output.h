// RunChild: runs a program of this installation to its end and keeps its output.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd {

struct ChildOutput {
  int exit_code = 0;  // 128 + the signal's number if a signal killed it
  std::string text;   // of stdout and stderr, at most 1 MiB
};

// Blocks until the program has ended; after `timeout_ns` it kills the program and returns
// DEADLINE_EXCEEDED. The program gets this process's environment, with the variables of
// `environment` in place of its own. Thread-safe.
absl::StatusOr<ChildOutput> RunChild(const std::string& path, std::vector<std::string> arguments,
                                     int64_t timeout_ns,
                                     const std::map<std::string, std::string>& environment = {});

// The last line that is not empty; empty when there is none.
std::string LastLine(const std::string& text);

}  // namespace mpsd
