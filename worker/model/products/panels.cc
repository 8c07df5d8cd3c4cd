#include "worker/model/products/panels.h"

namespace mpsd {

#if defined(__x86_64__)
bool HasPanelProducts() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

bool HasWiderProducts() { return __builtin_cpu_supports("avx512f") != 0; }
#else
bool HasPanelProducts() { return false; }

bool HasWiderProducts() { return false; }
#endif

}  // namespace mpsd
