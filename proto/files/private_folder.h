// MakePrivateFolder: a folder in which this process's user alone may write.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Makes the folder with mode 0700; its parent must be there. A folder that is there already is left
// as it is. FAILED_PRECONDITION, in words for the operator, when that is a symbolic link or no
// folder, belongs to another user, or others may write to it: then any file in it may be theirs.
// Thread-safe.
absl::Status MakePrivateFolder(const std::string& path);

}  // namespace mpsd
