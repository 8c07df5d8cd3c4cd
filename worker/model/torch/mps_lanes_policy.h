// LanesAllowed: how many lanes of one worker a device bears.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/link/census.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// How many lanes a worker may run on `device`: at most `wanted`, and fewer on mps alone. The worker
// holds itself to this, whatever number it was ordered to run. Several threads crash a stock
// libtorch on mps. With a patched one LayerNorm runs one thread at a time and attention has a race.
// Sets `why` when the result is below `wanted`. Pure.
uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why);

}  // namespace mpsd
