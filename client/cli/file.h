// file: reads and writes whole files. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd::cli {

// The content of `path`. Errors name the path; OUT_OF_RANGE for a file of more than `bytes_max`
// bytes.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t bytes_max);

// Creates or replaces `path`. Errors name the path.
absl::Status WriteWholeFile(const std::string& path, absl::string_view content);

}  // namespace mpsd::cli
