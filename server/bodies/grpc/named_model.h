// TextField: a request's model, before the request is parsed.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd {

// The gate checks the model before any code parses the message. MethodAccess::model_field names the
// field for each method.
//
// The text of that top-level field of a serialized message; nothing if `bytes` is malformed. It
// agrees exactly with protobuf: the last of several counts, and an absent one is empty. Otherwise a
// message that reads as "a" here and as "b" in protobuf would pass the gate for "a". Returns a
// view, after one walk without allocations. Pure.
std::optional<absl::string_view> TextField(absl::string_view bytes, uint32_t field);

}  // namespace mpsd
