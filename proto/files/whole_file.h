// whole_file: reads and writes whole files. Thread-safe.
//
// For files named by a command line or a config: tensors, vocabularies, certificates, tokens.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The content of `path`, which may also be a pipe, such as a shell's <(command). Reads in pieces of
// 1 MiB and gives up at the first piece beyond `bytes_max`, so a wrong path such as /dev/zero costs
// no more memory than that. Blocks until the writer of a pipe is done.
//
// Errors name the path and the system's reason. NOT_FOUND: it cannot be opened. OUT_OF_RANGE: it
// has more than `bytes_max` bytes. DATA_LOSS: reading failed half-way.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t bytes_max);

// The content of the file at `path`, links followed, and of nothing else: opening it never waits,
// as for the writer of a pipe. For files that are read while others wait.
//
// Errors name the path. INVALID_ARGUMENT: what is there is no file. Else as ReadWholeFile().
absl::StatusOr<std::string> ReadRegularFile(const std::string& path, uint64_t bytes_max);

// Creates `path`, or replaces its content in place: the file keeps its owner and mode, and a
// failure half-way leaves a file that is cut. DATA_LOSS names the path and the system's reason.
absl::Status WriteWholeFile(const std::string& path, absl::string_view content);

}  // namespace mpsd
