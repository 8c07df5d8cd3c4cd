// DescriptorLimit: raises the number of descriptors of this process as far as the system allows.
//
// On Linux the soft limit may be raised to the hard one. macOS reports an infinite hard limit but
// refuses infinity. It accepts at most kern.maxfilesperproc, and some versions at most OPEN_MAX. So
// the candidates are tried from the highest down.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace mpsd {

// OPEN_MAX of macOS, accepted by every version.
inline constexpr uint64_t kSureDescriptors = 10240;

// Raises the soft limit of `limit` to the hard limit, or to the highest lower candidate that `set`
// accepts. Never lowers it. The parameter `system_bound` is platform::DescriptorBound(), and `set`
// is setrlimit(), which returns whether the system accepted. Returns the soft limit then in force.
uint64_t RaiseDescriptorLimit(rlimit limit, uint64_t system_bound,
                              absl::FunctionRef<bool(const rlimit&)> set);

// Raises this process's own limit. Returns its soft limit afterwards; 0 if the system does not
// tell. Called by main, before others rely on the limit.
uint64_t RaiseOwnDescriptorLimit();

namespace platform {

// The most descriptors that the system lets one process have, whatever its hard limit says; 0 if
// the hard limit is the answer. Implemented in platform_linux.cc and platform_macos.cc.
// Thread-safe.
uint64_t DescriptorBound();

}  // namespace platform
}  // namespace mpsd
