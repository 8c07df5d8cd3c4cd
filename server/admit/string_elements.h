// CheckStrings: checks the elements of a BYTES tensor that a client sent.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/request/infer_message.h"

namespace mpsd {

// Walks the payload's elements: each is a length of four bytes, then that many bytes. Elements may
// span pieces. INVALID_ARGUMENT, in words that clients match on, unless the payload holds exactly
// as many elements as `dims` says. Pure.
absl::Status CheckStrings(const Payload& payload, absl::string_view input,
                          absl::Span<const int64_t> dims);

}  // namespace mpsd
