// SHA-256: how tokens are kept and compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// The daemon keeps digests of tokens, so neither its memory nor the token file lets anybody in. A
// long random token needs no salt and no slow digest; a password would.

using Sha256Digest = std::array<uint8_t, 32>;

// Nothing if the cryptographic library fails: the caller is then refused. Takes no heap memory, as
// allocation_test.cc checks, since every call with a token comes here. Pure.
std::optional<Sha256Digest> Sha256(absl::string_view text);

// As if the texts were one.
std::optional<Sha256Digest> Sha256(absl::Span<const absl::string_view> texts);

// Takes the same time wherever the digests differ, so that nobody can find one byte by byte with a
// clock. Pure.
bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b);

}  // namespace mpsd
