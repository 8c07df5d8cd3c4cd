// MakePrivateFolder: a folder that only this process's user may write to.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Makes the folder with mode 0700; its parent must exist. An existing folder is left as it is.
// FAILED_PRECONDITION, in words for the operator, if the path is a symbolic link or no folder,
// belongs to another user, or others may write to it. In these cases any file in it may come from
// others. Thread-safe.
absl::Status MakePrivateFolder(const std::string& path);

}  // namespace mpsd
