// mps_policy: how many lanes a worker may run on mps, and how much of the memory it may take. Pure.
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
// libtorch's limits on mps are shares of the whole device. The front end divides the device among
// processes (LoadOrder::memory_share_percent), and TorchRuntime::SetEnvironment() passes the share
// to libtorch as two variables. A value that the operator has set stays.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/link/census.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// Follows the table above. Sets `why`, for the operator, only if the result is below `wanted`.
// Pure.
//
// A stock libtorch on mps crashes with several threads; with upstream_pool all lanes would share
// one stream. When patched, LayerNorm runs one thread at a time and attention has a race. With
// upstream_guard lanes share cached graphs and kernel objects, and encode them at the same time.
uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why);

// Whether several lanes need a passed self-check: nobody has published that this libtorch bears
// them. Pure.
bool NeedsCheck(absl::string_view device, RuntimeKind kind);

// Shares of the memory that Apple recommends, for libtorch's environment: "0.75". Plain data.
struct MpsWatermarks {
  std::string low;   // above it libtorch gives memory back
  std::string high;  // above it allocations fail
};

// The limits of one of several processes: low is 75 % of its share, high 95 %. Values outside 1 to
// 100 are clamped. Without a share (0) the caller keeps libtorch's own limits. Pure.
MpsWatermarks DivideWatermarks(uint32_t share_percent);

}  // namespace mpsd
