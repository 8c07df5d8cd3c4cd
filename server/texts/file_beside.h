// ReadFileBeside: a settings file in a tokenizer's folder.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr uint64_t kMaxSettingsBytes = 4 << 20;  // one file's

// Empty if there is none in the folder of the file at `path`. INVALID_ARGUMENT if it is no regular
// file: a pipe would block. Other errors as ReadWholeFile(). Blocks. Thread-safe. REQUIRES: `name`
// is one of kTokenizerSettings, whose changes a reload finds.
absl::StatusOr<std::string> ReadFileBeside(const std::string& path, absl::string_view name,
                                           uint64_t bytes_max);

}  // namespace mpsd
