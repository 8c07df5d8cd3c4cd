// ReadFileBeside: a file of settings in the folder of a tokenizer.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr uint64_t kMaxSettingsBytes = 4 << 20;  // of one file

// REQUIRES: `name` is one of kTokenizerSettings, whose changes a reload finds. The content of the
// file `name` in the folder of the file at `path`; empty where there is none.
// INVALID_ARGUMENT for what is there and no file: a pipe would block until somebody writes to it.
// Errors else as ReadWholeFile(). Blocks for the reading. Thread-safe.
absl::StatusOr<std::string> ReadFileBeside(const std::string& path, absl::string_view name,
                                           uint64_t bytes_max);

}  // namespace mpsd
