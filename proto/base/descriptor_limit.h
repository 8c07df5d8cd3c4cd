// DescriptorLimit: how many descriptors this process may have, raised as far as the system allows.
//
// Linux takes the hard limit as the new soft one. macOS says that the hard limit is infinite and
// then refuses infinity: it takes no more than kern.maxfilesperproc, and some versions no more than
// OPEN_MAX. So the bounds are tried from the highest on.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace mpsd {

// OPEN_MAX of macOS, which each of its versions takes.
inline constexpr uint64_t kSureDescriptors = 10240;

// Raises the soft limit of `limit` to the hard one, or to the highest lower bound that `set` takes,
// and never lowers it. `system_bound` is platform::DescriptorBound(). Returns the soft limit that
// is in force then. `set` is setrlimit() and returns whether the system took it.
uint64_t RaiseDescriptorLimit(rlimit limit, uint64_t system_bound,
                              absl::FunctionRef<bool(const rlimit&)> set);

// Does that for this process. Returns its soft limit afterwards; 0 where the system does not tell.
// Called by main, before others count on the limit.
uint64_t RaiseOwnDescriptorLimit();

namespace platform {

// How many descriptors the system lets one process have, whatever its hard limit says; 0 where the
// hard limit says it. Implemented in platform_linux.cc and platform_macos.cc. Thread-safe.
uint64_t DescriptorBound();

}  // namespace platform
}  // namespace mpsd
