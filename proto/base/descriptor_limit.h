// DescriptorLimit: raises the number of descriptors of this process as far as the system allows.
//
// macOS reports an infinite hard limit but refuses it. It accepts kern.maxfilesperproc, and in some
// versions only OPEN_MAX. So the candidates are tried from the highest down.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace mpsd {

// macOS's OPEN_MAX, which every version accepts.
inline constexpr uint64_t kSureDescriptors = 10240;

// Raises the soft limit to the hard one, or to the highest candidate that `set` accepts; never
// lowers it. `system_bound` is DescriptorBound(), and `set` setrlimit(). Returns the soft limit in
// force.
uint64_t RaiseDescriptorLimit(rlimit limit, uint64_t system_bound,
                              absl::FunctionRef<bool(const rlimit&)> set);

// Returns the soft limit; 0 if the system does not tell. Called by main, before others rely on it.
uint64_t RaiseOwnDescriptorLimit();

namespace platform {

// The system's bound for one process, whatever its hard limit says; 0: the hard limit. Implemented
// in platform_linux.cc and platform_macos.cc. Thread-safe.
uint64_t DescriptorBound();

}  // namespace platform
}  // namespace mpsd
