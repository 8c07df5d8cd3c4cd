// LoadForGood: loads a shared library for the life of the process.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// Makes the library's symbols visible to the whole process. FAILED_PRECONDITION has the loader's
// own words, which name the missing file. Runs the library's start-up code, on the calling thread.
absl::Status LoadForGood(const char* name);

}  // namespace mpsd
