#include "tests/metal/gpu/gpu_fault.h"

#include <csignal>
#include <cstdlib>

namespace mpsd::standin {

GpuFault& GpuFault::OfProcess() {
  static GpuFault* const fault = [] {
    const char* const text = std::getenv("MPSD_STANDIN_FAULT");
    auto* const made = new GpuFault(text == nullptr ? "a fault" : text);
    if (text != nullptr) std::signal(SIGUSR1, [](int) { OfProcess().Begin(); });
    return made;
  }();
  return *fault;
}

}  // namespace mpsd::standin
