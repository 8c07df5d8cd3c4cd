// memory_probe: tests at the start whether a gpu reads shared memory as this process and the front
// end see it. Needs no libtorch: a function does the computing.
//
// Metal does not say whether it takes read-only pages, or whether it sees what another mapping of
// the pages writes later. Nor is it known whether an operator of libtorch accepts a tensor over
// such a buffer. So a worker does once what each batch will do: the front end's part writes through
// its own mapping, the lane's part computes from a read-only one. Only one operator is tested, an
// elementwise addition; others, such as a product, may read their inputs differently.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/metal/buffer_maker.h"
#include "worker/model/torch/host_buffers.h"

namespace mpsd {

// Makes the gpu double each of the numbers, and returns its results. `place` is where the gpu sees
// the numbers; nullopt: copy them from `numbers`.
using Double = absl::FunctionRef<absl::StatusOr<std::vector<int32_t>>(
    absl::Span<const int32_t> numbers, const std::optional<BufferPlace>& place)>;

// Tests the gpu on two patterns, one after the other, in shared memory that is mapped once to write
// and once to read. With a `maker` the gpu uses the numbers in place, without one they are copied.
// OK: the gpu gave the right numbers. DATA_LOSS: the numbers are wrong, and such memory must not be
// used so. Otherwise the error of what failed. Uses two pages briefly. Blocks as `doubled` does.
absl::Status ProbeMemory(BufferMaker* maker, Double doubled);

}  // namespace mpsd
