// How large output leases and a worker's output area are: pure formulas over a model's spec.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/link/model_spec.h"

namespace mpsd {

// Bytes of the outputs of `rows` rows, each output at the next multiple of 64. Nothing when the
// spec leaves an output's shape open.
std::optional<uint64_t> KnownOutputBytes(const ModelSpec& spec, uint32_t rows);

// The bytes that an output row of unknown shape is first assumed to take.
inline constexpr uint64_t kAssumedOutputRowBytes = 16 << 10;

// Room for every batch that the lanes can have, and as much again, at least kMinPinBytes, for
// leases in which answers lie that clients have not read yet.
inline constexpr uint64_t kMinPinBytes = 4ULL << 20;
uint64_t PinLimitBytes(const ModelSpec& spec, uint32_t lanes, uint32_t lane_depth);
uint64_t OutputAreaBytes(const ModelSpec& spec, uint32_t lanes, uint32_t lane_depth);

// The largest lease of an output area: half of it, so that one batch does not wait for all others.
constexpr uint64_t LargestLeaseBytes(uint64_t area_bytes) { return area_bytes / 2; }

}  // namespace mpsd
