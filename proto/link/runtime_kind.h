// RuntimeKind: the kind of libtorch that a worker runs on, as it matters to placement and streams.
//
// The kinds differ in how many threads may use mps at once. A worker finds its own kind from the
// library's symbols (worker/model/runtime/runtime_detection.h). Placement reads it in the line of
// `mpsd-worker --devices` before the first start. On the cpu and on CUDA the kind changes nothing,
// unless a model's parameters ask for one (worker/model/runtime/preflight.h).
#pragma once

#include <cstdint>

#include "proto/link/enum_names.h"

namespace mpsd {

enum class RuntimeKind {
  kStock,          // one MPS stream for all threads
  kPatched,        // a pool of streams, with its locks and caches repaired
  kUpstreamPool,   // from 2.14: a pool with functions of its own
  kUpstreamGuard,  // from 2.15: the same, used through the device guard of c10
};

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<RuntimeKind> = {
    "stock", "patched", "upstream_pool", "upstream_guard"};

// The lanes of a worker on mps. If the config names no number, placement chooses this many with
// kPatched, and one with any other kind. Published measurements support two. With kUpstreamGuard a
// worker runs no more, whatever was ordered. The worker knows the model and decides in the end
// (worker/model/runtime/mps_policy.h).
inline constexpr uint32_t kMpsLanes = 2;

// The most lanes of a worker on mps with kPatched: each has a stream of its own.
inline constexpr uint32_t kMostPatchedMpsLanes = 31;

}  // namespace mpsd
