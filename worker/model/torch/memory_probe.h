// memory_probe: tests at the start whether a gpu reads shared memory as this process and the front
// end see it.
//
// Metal does not say whether it takes read-only pages, or sees what another mapping of the pages
// writes later. So a worker does once what each batch will do. Only an elementwise addition is
// tested; other operators may read their inputs differently.
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

// Makes the gpu double each number. `place` is where the gpu sees the numbers; nullopt: copy them
// from `numbers`.
using Double = absl::FunctionRef<absl::StatusOr<std::vector<int32_t>>(
    absl::Span<const int32_t> numbers, const std::optional<BufferPlace>& place)>;

// Tests memory that is mapped once to write, as by the front end, and once to read, as by a lane.
// Without a `maker` the numbers are copied. DATA_LOSS: the gpu gave wrong numbers, and such memory
// must not be used so.
absl::Status ProbeMemory(BufferMaker* maker, Double doubled);

}  // namespace mpsd
