// LoadForGood: loads a shared library at run time, for the life of the process.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// Loads the library with all its symbols for everybody. FAILED_PRECONDITION has the loader's own
// words, which name the file that is missing: the library itself, or one that it needs. A library
// that is loaded already stays so. Runs the library's own start-up code, on the calling thread.
absl::Status LoadForGood(const char* name);

}  // namespace mpsd
