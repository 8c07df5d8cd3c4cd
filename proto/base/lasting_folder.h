// LastingFolder: where a user's programs keep files that nobody tidies up, implemented in
// platform_linux.cc and platform_macos.cc.
#pragma once

#include <string>

namespace mpsd::platform {

// Without a slash at its end; empty if the system has no folder that lasts. It need not exist yet.
// Reads the environment. Thread-safe.
std::string LastingFolder();

}  // namespace mpsd::platform
