// Runs a program of this installation to its end and keeps what it wrote.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd {

struct ChildOutput {
  int exit_code = 0;  // 128 + the signal, of one that was killed
  std::string text;   // of stdout and stderr, 1 MiB at most
};

// Blocks until the program has ended, or kills it after `timeout_ns`: DEADLINE_EXCEEDED. Its
// environment is ours, but for the variables that `environment` has others for. Thread-safe.
absl::StatusOr<ChildOutput> RunChild(const std::string& path, std::vector<std::string> arguments,
                                     int64_t timeout_ns,
                                     const std::map<std::string, std::string>& environment = {});

// The last line that is not empty.
std::string LastLine(const std::string& text);

}  // namespace mpsd
