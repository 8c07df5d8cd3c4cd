// SHA-256, by which tokens are kept and compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd {

using Sha256Digest = std::array<uint8_t, 32>;

// Nothing only when the cryptographic library fails. Pure; takes no memory from the heap.
std::optional<Sha256Digest> Sha256(absl::string_view text);

// True when they are equal. Takes the same time wherever they differ. Pure.
bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b);

}  // namespace mpsd
