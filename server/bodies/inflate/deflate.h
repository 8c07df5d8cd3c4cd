// Deflate: compresses the bytes of one message. Knows no transport.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/bodies/inflate/inflate_stream.h"

namespace mpsd {

// Appends the compressed bytes to `to`, by zlib's quickest level. False for lack of memory, and if
// they are not fewer than the plain ones; then `to` is as before. Blocks; 1 MiB takes some 15 ms.
// Thread-safe.
bool Deflate(CompressedForm form, absl::string_view plain, std::string* to);

}  // namespace mpsd
