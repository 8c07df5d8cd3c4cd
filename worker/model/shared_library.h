// LoadForGood: loads a shared library at run time, for the life of the process.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// Loads the library and makes its symbols visible to the whole process. FAILED_PRECONDITION has the
// loader's own words, which name the missing file: the library itself, or one that it needs. A
// library that is already loaded stays loaded. Runs the library's own start-up code, on the calling
// thread.
absl::Status LoadForGood(const char* name);

}  // namespace mpsd
