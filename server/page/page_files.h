// PageFiles: this folder's files for browsers, as at build time.
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd {

// Constants, written by embed.cmake.
extern const absl::string_view kPageFile;    // page.html, with marks for StatusPage
extern const absl::string_view kRoutesFile;  // openapi.json

}  // namespace mpsd
