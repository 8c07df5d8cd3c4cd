// content_key: the digest of everything that the answer to a request depends on.
#pragma once

#include <cstdint>
#include <optional>

#include "server/request/cache_scope.h"
#include "server/request/request.h"

namespace mpsd {

// Larger inputs are not looked up: the digest would delay the thread's other calls by milliseconds.
inline constexpr uint64_t kMostDigestedBytes = 4 << 20;

// SHA-256 over the checked inputs (datatypes, dims and bytes, in the spec's order, and which
// optional ones are left out) and the wanted outputs in their order. With kTenant, the tenant and
// the rules that numbered it are added. The key need not name the model, its version and its
// generation, because each ModelCache has its own keys. The form of an answer (classes, regions,
// duplicates of texts) is left out: it is applied to the kept answer each time.
//
// The digest is cryptographic: a client cannot make two requests with one key, so inputs need not
// be kept and compared.
//
// Nothing if the request must not be kept: its inputs have more than kMostDigestedBytes, or its
// tenant is the last one, which may stand for several callers (AccessPolicy::TenantOf). Takes about
// 0.5 to 2 ms per MiB. REQUIRES: Validate() accepted the request, and its payloads are there. Pure.
std::optional<ContentKey> KeyOf(const Request& request, CacheScope scope);

}  // namespace mpsd
