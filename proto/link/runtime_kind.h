// RuntimeKind: the kind of libtorch that a worker runs on.
//
// The kinds differ in how many threads may use mps at once. On other devices the kind matters only
// if a model's parameters ask for one (preflight.h). A worker finds its kind from symbols
// (runtime_detection.h). Placement reads it in the line of `mpsd-worker --devices`.
#pragma once

#include <cstdint>

#include "proto/link/enum_names.h"

namespace mpsd {

enum class RuntimeKind {
  kStock,          // one MPS stream for all threads
  kPatched,        // a pool of streams, with repaired locks and caches
  kUpstreamPool,   // from 2.14: a pool with functions of its own
  kUpstreamGuard,  // from 2.15: used through c10's device guard
};

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<RuntimeKind> = {
    "stock", "patched", "upstream_pool", "upstream_guard"};

// If the config names no number, placement chooses this many with kPatched, else one. Published
// measurements support two. With kUpstreamGuard a worker runs no more (mps_policy.h).
inline constexpr uint32_t kMpsLanes = 2;

// With kPatched each lane has its own stream.
inline constexpr uint32_t kMostPatchedMpsLanes = 31;

}  // namespace mpsd
