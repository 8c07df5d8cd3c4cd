// SchemaFile: config/schema.json at the build.
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd {

// Written by cmake/Embed.cmake.
extern const absl::string_view kConfigSchema;

}  // namespace mpsd
