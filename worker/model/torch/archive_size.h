// CheckArchiveSize: refuses an archive that unpacks to far more than its own size.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Savers store weights as they are and compress only code, to about a tenth. So an archive unpacks
// to little more than its own bytes, unless somebody has made it to use up memory or a disk.
inline constexpr uint64_t kMostUnpackedFactor = 32;
inline constexpr uint64_t kUncheckedBytes = uint64_t{64} << 20;

// INVALID_ARGUMENT if the archive's records have more than kUncheckedBytes and
// kMostUnpackedFactor times the archive's bytes together. Reads the archive's directory only;
// libtorch allocates and unpacks each record by the size there. Throws libtorch's exceptions, for
// example for a file that is no archive.
absl::Status CheckArchiveSize(const std::string& path);

}  // namespace mpsd
