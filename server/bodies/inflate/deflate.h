// Deflate: compresses the bytes of one message.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/bodies/inflate/inflate_stream.h"

namespace mpsd {

// Appends by zlib's quickest level. False, with `to` unchanged, for lack of memory or if nothing is
// saved. Blocks; 1 MiB takes some 15 ms. Thread-safe.
bool Deflate(CompressedForm form, absl::string_view plain, std::string* to);

}  // namespace mpsd
