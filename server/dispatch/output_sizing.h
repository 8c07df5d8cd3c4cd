// How large an output lease and a worker's output area are: pure formulas over a model's spec.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/link/model_spec.h"

namespace mpsd {

// Bytes of the outputs of `rows` rows, each output at the next multiple of 64. Nothing when an
// output's shape is not known beforehand.
std::optional<uint64_t> KnownOutputBytes(const ModelSpec& spec, uint32_t rows);

// What an output row of unknown shape is first taken for.
inline constexpr uint64_t kAssumedOutputRowBytes = 16 << 10;

// Room for every batch that the lanes can have, and as much again, at least kMinPinBytes, for the
// leases of those whose answers clients have not read yet.
inline constexpr uint64_t kMinPinBytes = 4ULL << 20;
uint64_t PinLimitBytes(const ModelSpec& spec, uint32_t lanes, uint32_t lane_depth);
uint64_t OutputAreaBytes(const ModelSpec& spec, uint32_t lanes, uint32_t lane_depth);

}  // namespace mpsd
