// Which model a request names, read off its bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd {

// The text of the field `field` of a serialized message, as protobuf reads it: the last one counts,
// an absent one is empty. Nothing when the bytes are no message. Pure; the view is into `bytes`.
std::optional<absl::string_view> TextField(absl::string_view bytes, uint32_t field);

}  // namespace mpsd
