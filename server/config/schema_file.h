// SchemaFile: config/schema.json, as it was when the daemon was built.
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd {

// A constant. The source is written by cmake/Embed.cmake.
extern const absl::string_view kConfigSchema;

}  // namespace mpsd
