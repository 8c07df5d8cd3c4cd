// units: durations and sizes as people write them: "500us", "64MiB".
//
// For configs, command lines and model parameters. A number needs a unit, so nobody has to know
// whether a key counts milliseconds or seconds. A decimal point needs digits on both sides, at most
// one space precedes the unit, and case matters: "1.5 MiB", "10ms". The value must be a whole
// number of nanoseconds or bytes, below 2^63.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mpsd {

// The nanoseconds of "250ns", "500us", "10ms", "1.5s", "5m" or "1h". The unit is required, except
// for "0". Never negative. INVALID_ARGUMENT quotes the text and says what is wrong. Pure.
absl::StatusOr<int64_t> ParseDurationNs(std::string_view text);

// The bytes of "512B", "64KiB", "1.5MiB", "2GiB" or "1TiB", or of "64kB", "64MB", "2GB" or "1TB"
// (powers of ten). The unit is required, except for "0". INVALID_ARGUMENT as above. Pure.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

// For people: in the largest binary unit that fits, with at most one decimal: "1.5 GiB", "812 KiB".
// Rounded, so parsing it may give another number.
std::string BytesText(uint64_t bytes);

}  // namespace mpsd
