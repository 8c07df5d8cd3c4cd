// SHA-256: how tokens are kept and compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// The daemon keeps digests of tokens, never a token, so neither its memory nor the token file lets
// anybody in. A caller's token is digested when its call arrives, and compared with all known
// digests. A token should be long and random, so its digest needs no salt and may be quick to make;
// a password would need both.

using Sha256Digest = std::array<uint8_t, 32>;

// The digest of `text`; nothing if the cryptographic library fails, and the caller is then refused.
// Takes no heap memory, since every call with a token comes here; allocation_test.cc checks that
// (tests/server/access). Pure.
std::optional<Sha256Digest> Sha256(absl::string_view text);

// The digest of the texts as if they were one.
std::optional<Sha256Digest> Sha256(absl::Span<const absl::string_view> texts);

// Takes the same time wherever the digests differ, so that nobody can find a digest byte by byte
// with a clock. Pure.
bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b);

}  // namespace mpsd
