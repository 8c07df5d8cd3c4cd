// ProfilerObjection: refuses several lanes while the profiler of MPS is on.
//
// libtorch has a profiler for mps that two variables of the environment turn on,
// PYTORCH_MPS_TRACE_SIGNPOSTS and PYTORCH_MPS_LOG_PROFILE_INFO. The profiler is not thread-safe,
// and a variable that was once exported is easily forgotten. TorchRuntime::Create() asks before it
// opens the device. The parameter `profiler: allow` lets an operator do it nevertheless.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Why a worker must not serve with this many lanes on `device`, with the two ways to mend it, for
// the operator. Empty when nothing speaks against it: another device, a single lane, or both
// variables unset, empty or "0". `variable` returns a variable of the environment, null if it is
// unset; tests pass their own. Pure but for `variable`.
std::string ProfilerObjection(absl::string_view device, uint32_t lanes,
                              absl::FunctionRef<const char*(const char*)> variable);

}  // namespace mpsd
