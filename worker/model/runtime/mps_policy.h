// mps_policy: how many lanes a worker may run on mps, and how much of the memory it may take. Pure.
//
// Cpu and CUDA bear any number of lanes. On mps the number depends on the libtorch and on the
// model's operators. Placement (server/place) chooses a number beforehand, from the config and the
// kind of libtorch. The worker knows the model and has the last word: its LoadReport says how many
// lanes it runs and why they are fewer.
//
//   device   libtorch               the census has               lanes
//   others   any                    anything                     as wanted
//   mps      stock, upstream_pool   anything                     1
//   mps      both others            is not known                 1
//   mps      patched                layer_norm or attention      1
//   mps      upstream_guard         these, linear, matmul,       1
//                                   convolution or recurrent
//   mps      patched                none of them                 at most kMostPatchedMpsLanes
//   mps      upstream_guard         none of them                 at most kMpsLanes
//
// docs/macos.md names the sources for each line. Placement asks for several lanes by itself only
// with a patched libtorch. With upstream_guard an operator must ask, by `placement.lanes`.
//
// The table is the second of four checks, each of which can only take lanes away:
//
//   TorchModel                   One lane if the model is decoupled, on any device.
//   LanesAllowed()               The table above.
//   BearableLanes()              One lane if the gpu's driver is not guarded but should be.
//   CheckConcurrency()           One lane if lanes disturb each other in a trial. NeedsCheck() says
//                                whether one lane also remains when the check cannot tell.
//
// `mpsd inspect` asks the same for a file that is not served yet.
//
// libtorch's limits on mps are shares of the whole device, so each of several workers would take
// all of it. The front end divides the device among the processes
// (LoadOrder::memory_share_percent). TorchRuntime::SetEnvironment() passes the share to libtorch,
// as two variables that libtorch reads when it first allocates. A value that the operator has set
// stays.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/link/census.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// How many lanes a worker may run on `device`: at most `wanted`, by the table above. Sets `why`
// when the result is below `wanted`, and leaves it alone otherwise. The text is for the operator,
// to whom the LoadReport brings it. A `wanted` of 0 or 1 is never too many. Pure.
//
// The reasons: several threads crash a stock libtorch on mps, and with upstream_pool all lanes
// would share one stream. In a patched libtorch LayerNorm runs one thread at a time and attention
// has a race. With upstream_guard each lane has its own stream. But an operator encoded from a
// graph or a kernel object finds the same object in a cache of the process, and lanes encode it at
// the same time.
uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why);

// Whether several lanes are trusted only after a passed self-check: nobody has published that this
// libtorch bears them. Pure.
bool NeedsCheck(absl::string_view device, RuntimeKind kind);

// Shares of the memory that Apple recommends for its gpu, as texts for libtorch's environment:
// "0.75" is three quarters. Plain data.
struct MpsWatermarks {
  std::string low;   // above it libtorch gives memory back
  std::string high;  // above it allocations fail
};

// The watermarks for one of several processes that share the device, with `share_percent` of the
// whole: low is 75 % of the share, high is 95 % of it. Values outside 1 to 100 are clamped. An
// order without a share (0) keeps libtorch's own limits, and the caller asks for no watermarks
// then. Pure.
MpsWatermarks DivideWatermarks(uint32_t share_percent);

}  // namespace mpsd
