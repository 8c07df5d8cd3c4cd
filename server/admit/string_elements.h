// StringElements: the elements of a BYTES tensor, as a client sent them.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/request/infer_message.h"

namespace mpsd {

// Walks the payload's elements, a u32 length and as many bytes each, wherever its pieces part them.
// INVALID_ARGUMENT in the protocol's words unless there are exactly as many as `dims` says. Pure.
absl::Status CheckStrings(const Payload& payload, absl::string_view input,
                          absl::Span<const int64_t> dims);

}  // namespace mpsd
