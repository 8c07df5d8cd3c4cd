// ProfilerObjection: refuses several lanes while the profiler of MPS is on.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Why a worker must not serve with this many lanes on `device`: the environment turns the profiler
// on, which is not thread-safe. Empty when nothing speaks against it. `variable` returns a variable
// of the environment, null if it is unset. Pure but for `variable`.
std::string ProfilerObjection(absl::string_view device, uint32_t lanes,
                              absl::FunctionRef<const char*(const char*)> variable);

}  // namespace mpsd
