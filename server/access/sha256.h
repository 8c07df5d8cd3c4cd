// SHA-256: how tokens are kept and compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd {

using Sha256Digest = std::array<uint8_t, 32>;

// The digest of `text`; nothing only if the cryptographic library fails. Pure. Takes no memory from
// the heap.
std::optional<Sha256Digest> Sha256(absl::string_view text);

// Takes the same time wherever the digests differ, so that the time tells nothing. Pure.
bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b);

}  // namespace mpsd
