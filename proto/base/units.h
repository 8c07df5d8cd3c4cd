// units: durations and sizes as people write them.
//
// A number needs a unit, except "0". A decimal point needs digits on both sides, at most one space
// precedes the unit, and case matters. The value must be a whole number of nanoseconds or bytes,
// below 2^63. INVALID_ARGUMENT quotes the text and says what is wrong. All pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mpsd {

// "250ns", "500us", "10ms", "1.5s", "5m" or "1h".
absl::StatusOr<int64_t> ParseDurationNs(std::string_view text);

// "512B", "64KiB", "1.5MiB", "2GiB" or "1TiB"; or powers of ten: "64kB", "64MB", "2GB" or "1TB".
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

// Takes the largest binary unit that fits, and rounds to one decimal: "1.5 GiB".
std::string BytesText(uint64_t bytes);

}  // namespace mpsd
