// TextField: reads the name of a request's model before the request is parsed.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd {

// The text of field number `field` of a serialized message. Agrees with protobuf: of several the
// last counts, and an absent one is empty; access rules depend on that. Nothing when `bytes` is
// malformed. Returns a view into `bytes`. Pure.
std::optional<absl::string_view> TextField(absl::string_view bytes, uint32_t field);

}  // namespace mpsd
