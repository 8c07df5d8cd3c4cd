// whole_file: reads and writes whole files. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// May be a pipe, such as a shell's <(command). Gives up at the first MiB beyond `bytes_max`. Blocks
// until a pipe's writer is done.
//
// Errors name the path and the reason. NOT_FOUND: cannot be opened. OUT_OF_RANGE: more than
// `bytes_max`. DATA_LOSS: reading failed half-way.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t bytes_max);

// Reads files while others wait: opening anything but a file never waits. INVALID_ARGUMENT if it is
// no file, else as ReadWholeFile().
absl::StatusOr<std::string> ReadRegularFile(const std::string& path, uint64_t bytes_max);

// Replaces content in place: owner and mode stay, and a failure half-way leaves a cut file.
// DATA_LOSS names the path and the reason.
absl::Status WriteWholeFile(const std::string& path, absl::string_view content);

}  // namespace mpsd
