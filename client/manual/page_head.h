// PageHead: how every manual page of `mpsd` begins.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "client/manual/manual_page.h"

namespace mpsd::cli {

// The title line, and the section NAME. Pure, thread-safe.
std::string PageHead(absl::string_view name, int section, absl::string_view what,
                     const PageFacts& facts);

}  // namespace mpsd::cli
