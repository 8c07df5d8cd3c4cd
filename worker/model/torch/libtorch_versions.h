// libtorch_versions: the differences between libtorch 2.8 to 2.15, with which `./run package wheel`
// compiles. Any further difference belongs here too.
#pragma once

#include "ATen/cpu/Utils.h"
#include "c10/core/CachingDeviceAllocator.h"
#include "torch/version.h"

namespace mpsd {

// Whether this cpu has units that multiply bf16, as far as libtorch tells. Before 2.11 libtorch
// tells only of AVX512-BF16, which each cpu with AMX has too. May throw. Thread-safe.
inline bool CpuHasBf16Units() {
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 11
  return at::cpu::is_avx512_bf16_supported();
#else
  const auto capabilities = at::cpu::get_cpu_capabilities();
  for (const char* unit : {"amx_bf16", "avx512_bf16", "bf16"}) {
    const auto found = capabilities.find(unit);
    if (found != capabilities.end() && found->second.isBool() && found->second.toBool()) {
      return true;
    }
  }
  return false;
#endif
}

// Gives memory that libtorch keeps for later back to the driver. Does nothing with libtorch 2.8,
// which has no such call. Not for mps. May throw. Thread-safe.
inline void EmptyDeviceCache([[maybe_unused]] c10::DeviceType type) {
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 9
  c10::getDeviceAllocator(type)->emptyCache();
#endif
}

}  // namespace mpsd
