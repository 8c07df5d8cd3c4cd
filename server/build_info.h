// BuildInfo: what `mpsd --version` says.
#pragma once

#include <string>

namespace mpsd {

// Four lines: the version; the commit; the libtorch that the worker was compiled with; the build's
// kind, compiler and system. No final line break. Thread-safe.
std::string BuildInfo();

}  // namespace mpsd
