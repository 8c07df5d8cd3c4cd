#include <sched.h>

#include <algorithm>

#include "load_tests/ceilings/round_trip.h"

namespace mpsd {

std::vector<int> AllowedCores() {
  // Read once, as the process was started: PinTo() narrows what the kernel reports later.
  static const std::vector<int> kCores = [] {
    cpu_set_t set;
    MPSD_CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
    return cores;
  }();
  return kCores;
}

void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int allowed : AllowedCores()) {
    if (core < 0 || core == allowed) CPU_SET(allowed, &set);
  }
  MPSD_CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
}

double QuantileUs(std::vector<int64_t>* times_ns, double quantile) {
  std::sort(times_ns->begin(), times_ns->end());
  const auto index = static_cast<size_t>(quantile * static_cast<double>(times_ns->size() - 1));
  return static_cast<double>((*times_ns)[index]) * 1e-3;
}

}  // namespace mpsd
