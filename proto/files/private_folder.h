// MakePrivateFolder: a folder that only this process's user may write to.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Gives the folder mode 0700; its parent must exist. An existing folder is left as it is.
// FAILED_PRECONDITION, for the operator, if the path is a link or no folder, belongs to another
// user, or others may write to it: its files may be theirs. Thread-safe.
absl::Status MakePrivateFolder(const std::string& path);

}  // namespace mpsd
