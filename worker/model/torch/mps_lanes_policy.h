// LanesAllowed: how many lanes of one worker a device bears.
//
// Lanes are threads that run one model at the same time. Cpu and CUDA bear any number; on mps it
// depends on the libtorch and on the model's operators. Placement (server/place) has its own idea
// of a good number beforehand, from the config and the kind of libtorch; the worker knows the
// model, has the last word, and says in its LoadReport how many it runs and why they are fewer.
//
//   device   libtorch               the census has               lanes
//   others   any                    anything                     as wanted
//   mps      not patched            anything                     1
//   mps      patched                layer_norm or attention      1
//   mps      patched                is not known                 1
//   mps      patched                none of them                 at most kPatchedMpsLanes
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/link/census.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// How many lanes a worker may run on `device`: at most `wanted`, by the table above. Several
// threads crash a stock libtorch on mps. With a patched one LayerNorm runs one thread at a time and
// attention has a race. Sets `why` when the result is below `wanted`, and leaves it alone
// otherwise. Pure.
uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why);

}  // namespace mpsd
