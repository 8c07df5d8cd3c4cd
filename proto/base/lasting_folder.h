// LastingFolder: where a user's programs keep files that nobody tidies up, implemented in
// platform_linux.cc and platform_macos.cc.
#pragma once

#include <string>

namespace mpsd::platform {

// The path has no slash at its end. Empty if the system has no folder that lasts. The folder need
// not exist yet. Reads the environment. Thread-safe.
std::string LastingFolder();

}  // namespace mpsd::platform
