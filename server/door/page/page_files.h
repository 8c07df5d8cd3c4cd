// PageFiles: this folder's files for browsers, as at build time.
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd {

// Constants. The source is written by cmake/Embed.cmake.
extern const absl::string_view kPageFile;    // page.html, with the marks that StatusPage replaces
extern const absl::string_view kRoutesFile;  // openapi.json

}  // namespace mpsd
