// RuntimeKind: which libtorch this process runs on, as far as placement and streams are concerned.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "proto/link/census.h"

namespace mpsd {

enum class RuntimeKind {
  kStock,          // one MPS stream for all threads
  kPatched,        // a pool of streams, with its locks and caches repaired
  kUpstreamPool,   // from 2.14: a pool, reached by its own functions
  kUpstreamGuard,  // from 2.15: the same pool, reached by c10's device guard
};

// "stock", "patched", "upstream_pool", "upstream_guard": as in the config and in `mpsd ps`.
const char* RuntimeKindName(RuntimeKind kind);

// Returns whether the process has a symbol of that name.
using SymbolLookup = absl::FunctionRef<bool(const char* symbol)>;

// The kind, told by symbols that only one kind has. A libtorch without MPS counts as stock. Pure.
RuntimeKind DetectRuntimeKind(SymbolLookup has_symbol);

// How many of `wanted` lanes a worker may have on the device. The worker enforces this table of
// placement, whatever it was ordered: several threads crash a stock libtorch on mps; on a patched
// one LayerNorm serializes lanes, and attention lets them race. Sets `why` when the answer is less
// than `wanted`. Pure.
uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why);

// The reason against serving with this many lanes while the device's profiler, which is not
// thread-safe, is on; empty when there is none. `variable` reads the environment: null when unset.
std::string ProfilerObjection(absl::string_view device, uint32_t lanes,
                              absl::FunctionRef<const char*(const char*)> variable);

// How much of the memory that Apple recommends for its gpu one process may take, as fractions of
// it: from `low` on libtorch gives memory back, at `high` allocations fail.
struct MpsWatermarks {
  std::string low;
  std::string high;
};

// The watermarks of one of several processes that share the device; it gets `share_percent` of it.
// Pure.
MpsWatermarks DivideWatermarks(uint32_t share_percent);

}  // namespace mpsd
