#include "proto/base/descriptor_limit.h"

#include <algorithm>

namespace mpsd {

uint64_t RaiseDescriptorLimit(rlimit limit, uint64_t system_bound,
                              absl::FunctionRef<bool(const rlimit&)> set) {
  const rlim_t before = limit.rlim_cur;
  const rlim_t hard = limit.rlim_max;
  const rlim_t known = system_bound > 0 ? std::min<rlim_t>(hard, system_bound) : hard;
  for (const rlim_t bound : {hard, known, std::min<rlim_t>(hard, kSureDescriptors)}) {
    if (bound <= before) continue;
    limit.rlim_cur = bound;
    if (set(limit)) return bound;
  }
  return before;
}

uint64_t RaiseOwnDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return RaiseDescriptorLimit(limit, platform::DescriptorBound(), [](const rlimit& wanted) {
    return setrlimit(RLIMIT_NOFILE, &wanted) == 0;
  });
}

}  // namespace mpsd
