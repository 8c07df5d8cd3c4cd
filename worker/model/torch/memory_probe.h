// memory_probe: tries out, before anything is served, whether a gpu reads shared memory as this
// process and the front end see it. Needs no libtorch: what computes is a function.
//
// Nothing that Metal says beforehand answers this: whether it takes pages that are mapped for
// reading alone, whether it sees what another mapping of them writes later, and whether an operator
// of libtorch bears a tensor over such a buffer. One operator is tried, which adds element by
// element: others, such as a product, may take their inputs in another way. So a worker does once
// what each batch will do: the front end's part writes through its own mapping, the lane's part
// computes from a read-only one.
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

// Has the gpu double each of the numbers, and returns what came of it. `place` is where the gpu
// sees them; nullopt: they are to be copied from `numbers`.
using Double = absl::FunctionRef<absl::StatusOr<std::vector<int32_t>>(
    absl::Span<const int32_t> numbers, const std::optional<BufferPlace>& place)>;

// OK when the gpu gave the right numbers, of two patterns one after the other, in a piece of shared
// memory that is mapped once to write and once to read. With a `maker` the numbers are used where
// they lie, without one they are copied. DATA_LOSS: the numbers are wrong, and such memory must not
// be used so; otherwise the error of whatever failed. Costs two pages for a moment. Blocks as
// `doubled` does.
absl::Status ProbeMemory(BufferMaker* maker, Double doubled);

}  // namespace mpsd
