// mps_policy: how many lanes a worker may run on mps, and how much of the memory it may take. Pure.
//
// Lanes are threads that run one model at the same time. Cpu and CUDA bear any number; on mps it
// depends on the libtorch and on the model's operators. Placement (server/place) has its own idea
// of a good number beforehand, from the config and the kind of libtorch; the worker knows the
// model, has the last word, and says in its LoadReport how many it runs and why they are fewer.
//
//   device   libtorch               the census has               lanes
//   others   any                    anything                     as wanted
//   mps      stock, upstream_pool   anything                     1
//   mps      both others            is not known                 1
//   mps      patched                layer_norm or attention      1
//   mps      upstream_guard         these, linear, matmul,       1
//                                   convolution or recurrent
//   mps      both others            none of them                 at most kMostMpsLanes
//
// docs/macos.md names the sources for each line. Placement asks for several lanes by itself with a
// patched libtorch alone: with upstream_guard an operator has to, by `placement.lanes`.
//
// The table is the second of three looks at a model's lanes, each of which only takes some away. It
// is pure, so that all of its lines are tested without a Mac:
//
//   TorchModel::LanesAllowed()   a decoupled model has one lane, on any device
//   LanesAllowed()               the table above
//   CheckConcurrency()           lanes that disturb each other when they are tried out: one;
//                                NeedsCheck() says where a check that cannot tell means one, too
//
// `mpsd inspect` asks the same for a file that nobody serves yet.
//
// libtorch's limits on mps are shares of the whole device, so each of several workers would take
// all of it. The front end divides the device among the processes
// (LoadOrder::memory_share_percent), and TorchRuntime::SetEnvironment() hands libtorch the share,
// as two variables that libtorch reads when it first allocates. What the operator has set there
// stays.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/link/census.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// How many lanes a worker may run on `device`: at most `wanted`, by the table above. Several
// threads crash a stock libtorch on mps, and with upstream_pool all lanes would share one stream.
// With a patched one LayerNorm runs one thread at a time and attention has a race. With
// upstream_guard each lane has a stream of its own, but operators that are encoded from a graph or
// a kernel object find the same one in a cache of the process, and encode it at the same time. Sets
// `why` when the result is below `wanted`, and leaves it alone otherwise. The text is for the
// operator, to whom the LoadReport brings it. A `wanted` of 0 or 1 is never too many. Pure.
uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why);

// Whether several lanes are trusted only after a self-check that has passed: nobody has published
// that this libtorch bears them. Pure.
bool NeedsCheck(absl::string_view device, RuntimeKind kind);

// Shares of the memory that Apple recommends for its gpu, as texts for libtorch's environment:
// "0.75" is three quarters. Plain data.
struct MpsWatermarks {
  std::string low;   // above it libtorch gives memory back
  std::string high;  // above it allocations fail
};

// For one process of several that share the device, `share_percent` of the whole: low is 75 % of
// the share, high is 95 % of it. Shares outside of 1 to 100 are brought there: an order without a
// share (0) means that libtorch's own limits stay, and the caller asks for no watermarks then.
// Pure.
MpsWatermarks DivideWatermarks(uint32_t share_percent);

}  // namespace mpsd
