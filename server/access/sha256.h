// SHA-256, by which tokens are kept and compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd {

using Sha256Digest = std::array<uint8_t, 32>;

// Nothing only when the cryptographic library fails, for want of memory say. Thread-safe. Takes
// memory on a thread's first call and never again.
std::optional<Sha256Digest> Sha256(absl::string_view text);

// True when they are equal. Takes the same time wherever they differ. Pure.
bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b);

}  // namespace mpsd
