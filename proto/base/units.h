// units: durations and sizes as people write them: "500us", "64MiB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mpsd {

// The nanoseconds of "250ns", "500us", "10ms", "1.5s", "5m" or "1h". The unit is required, except
// for "0". INVALID_ARGUMENT says what is wrong. Pure.
absl::StatusOr<int64_t> ParseDurationNs(std::string_view text);

// The bytes of "512B", "64KiB", "1.5MiB" or "2GiB", or of "64kB", "64MB" or "2GB" (powers of ten).
// The unit is required, except for "0". Pure.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

// The shortest such text, with a space: "1.5 GiB", "812 KiB".
std::string BytesText(uint64_t bytes);

}  // namespace mpsd
