// RuntimeKind: which libtorch a worker runs on, as far as placement and streams care.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class RuntimeKind {
  kStock,          // one MPS stream for all threads
  kPatched,        // a pool of streams, with its locks and caches mended
  kUpstreamPool,   // from 2.14: a pool that has functions of its own
  kUpstreamGuard,  // from 2.15: the same, reached through the device guard of c10
};

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<RuntimeKind> = {
    "stock", "patched", "upstream_pool", "upstream_guard"};

}  // namespace mpsd
