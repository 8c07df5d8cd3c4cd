// content_key: the digest of all that the answer to a request depends on.
#pragma once

#include <cstdint>
#include <optional>

#include "server/request/cache_scope.h"
#include "server/request/request.h"

namespace mpsd {

// Larger inputs are not looked for: their digest would hold up the thread's other calls for
// milliseconds.
inline constexpr uint64_t kMostDigestedBytes = 4 << 20;

// SHA-256 over the inputs as they were checked (datatypes, dims and bytes, in the spec's order, and
// which optional ones are left out), the wanted outputs in their order, and with kTenant the tenant
// and the rules that numbered it. The model, its version and its generation are the ModelCache's,
// whose keys meet no others. What only gives an answer its form (classes, regions, duplicates of
// texts) is in no key, since it is applied to the kept answer anew.
//
// The digest is cryptographic, so that a client cannot make two requests of one key, and inputs
// need not be kept and compared.
//
// Nothing for a request that is not to be kept: its inputs have more than kMostDigestedBytes, or it
// is of the last tenant, which may be several callers (AccessPolicy::TenantOf). Takes some 0.5 to
// 2 ms for each MiB. REQUIRES: Validate() accepted the request, and its payloads are there. Pure.
std::optional<ContentKey> KeyOf(const Request& request, CacheScope scope);

}  // namespace mpsd
