// CheckArchiveSize: refuses an archive that unpacks to far more than its own size.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Savers compress only code, to about a tenth. An archive that unpacks to far more was made to use
// up memory or a disk.
inline constexpr uint64_t kMostUnpackedFactor = 32;
inline constexpr uint64_t kUncheckedBytes = uint64_t{64} << 20;

// INVALID_ARGUMENT if the archive's records have more than kUncheckedBytes and kMostUnpackedFactor
// times the archive's bytes together. Trusts the sizes by which libtorch allocates. May throw.
absl::Status CheckArchiveSize(const std::string& path);

}  // namespace mpsd
