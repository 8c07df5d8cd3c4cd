// LastingFolder: where a user's programs keep files that nobody tidies up. A part of the seam to
// the operating system, implemented in platform_linux.cc and platform_macos.cc.
#pragma once

#include <string>

namespace mpsd::platform {

// The folder of this user, without a slash at its end; empty where the system has none that
// outlives the temporary ones. It need not exist yet. Reads the environment. Thread-safe.
std::string LastingFolder();

}  // namespace mpsd::platform
