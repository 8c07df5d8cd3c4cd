// PageFiles: this folder's files, as at build time.
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd {

// Written by cmake/Embed.cmake.
extern const absl::string_view kPageFile;  // with the marks that StatusPage replaces
extern const absl::string_view kRoutesFile;

}  // namespace mpsd
