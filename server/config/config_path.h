// The paths that a config or a command line names.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mpsd {

// `path` from `folder` where it is relative, without "." and "..". REQUIRES: `folder` is absolute.
std::string ResolvePath(const std::string& folder, const std::string& path);

// `path` from the working folder where it is relative. Fails only when there is no such folder.
absl::StatusOr<std::string> AbsolutePath(const std::string& path);

// Why `path` is not a file, as a whole sentence; empty when it is one. Asks the file system.
std::string FileFault(const std::string& path);

}  // namespace mpsd
