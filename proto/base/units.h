// Durations and sizes as people write them: "500us", "64MiB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mpsd {

// "250ns", "500us", "10ms", "1.5s", "5m", "1h"; a bare "0" too. The unit is required.
absl::StatusOr<int64_t> ParseDurationNs(std::string_view text);

// "512B", "64KiB", "1.5MiB", "2GiB", also "64kB", "64MB", "2GB" (powers of ten); "0" too.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

// The shortest such text: "1.5 GiB", "812 KiB".
std::string BytesText(uint64_t bytes);

}  // namespace mpsd
