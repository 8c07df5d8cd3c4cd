// RuntimeKind: which libtorch this process runs on, as far as placement and the streams care.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "proto/link/census.h"

namespace mpsd {

enum class RuntimeKind {
  kStock,          // one MPS stream for all threads
  kPatched,        // a pool of streams, its locks and its caches mended
  kUpstreamPool,   // from 2.14: a pool, reached by functions of its own
  kUpstreamGuard,  // from 2.15: the same, reached by c10's device guard
};

// "stock", "patched", "upstream_pool", "upstream_guard".
const char* RuntimeKindName(RuntimeKind kind);

// Says whether the process has a symbol of that name.
using SymbolLookup = absl::FunctionRef<bool(const char* symbol)>;

// Pure. A libtorch without MPS is of the stock kind.
RuntimeKind DetectRuntimeKind(SymbolLookup has_symbol);

// How many lanes a worker may have on the device: the table of placement that the worker enforces
// whatever it was told. Several threads crash a stock libtorch on mps; with a patched one they are
// serialized by LayerNorm and race in attention. `why` is set when it is fewer than `wanted`.
uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why);

// What speaks against serving with this many lanes while the profiler of the device is on, which is
// not thread-safe; empty when nothing does. `variable` reads the environment, null if unset.
std::string ProfilerObjection(absl::string_view device, uint32_t lanes,
                              absl::FunctionRef<const char*(const char*)> variable);

// What a process may take of the memory that Apple recommends for its gpu: where it begins to give
// back, and where allocations fail.
struct MpsWatermarks {
  std::string low;
  std::string high;
};

// For one process of several that share the device: `share_percent` of it. Pure.
MpsWatermarks DivideWatermarks(uint32_t share_percent);

}  // namespace mpsd
