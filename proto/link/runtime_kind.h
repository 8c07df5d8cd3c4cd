// RuntimeKind: which libtorch a worker runs on, as far as placement and streams care.
//
// The kinds differ in how many threads may use mps at once. A worker finds its own out from the
// library's symbols (worker/model/runtime/runtime_detection.h) and tells it by name in the line of
// `mpsd-worker --devices`, which placement reads before the first start. On the cpu and on CUDA the
// kind changes nothing, unless a model's parameters ask for one (worker/model/runtime/preflight.h).
#pragma once

#include <cstdint>

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

// How many lanes a worker runs on mps at most, whatever it was ordered. Published measurements of
// the patched build bear out two. Placement chooses this many with kPatched where the config names
// no number; with any other kind it chooses one. The worker knows the model, and has the last word
// (worker/model/runtime/mps_policy.h).
inline constexpr uint32_t kMostMpsLanes = 2;

}  // namespace mpsd
