// libtorch_versions: what the versions of libtorch that a worker is built with, 2.9 to 2.15, have
// differently. `./run check-macos --all` compiles with the first and the last of them; a further
// difference belongs here too.
#pragma once

#include "ATen/cpu/Utils.h"
#include "torch/version.h"

namespace mpsd {

// Whether this cpu has units that multiply bf16, as far as libtorch tells. Before 2.11 it tells of
// AVX512's alone, which each cpu with AMX's has too, and of none of arm64's. May throw what
// libtorch throws. Thread-safe.
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

}  // namespace mpsd
