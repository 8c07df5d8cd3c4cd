// CoreBinding: keeps a thread on some cores of the host. A part of the seam to the operating
// system, implemented in core_binding_linux.cc and core_binding_macos.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace mpsd {

// While it lives, the thread that made it runs on these cores. A child that the thread spawns
// inherits them for good, and the kernel takes memory that the thread touches first from their
// node. Without cores, or where the kernel refuses them, nothing changes. macOS binds no threads.
// Lives on one thread.
class CoreBinding {
 public:
  explicit CoreBinding(absl::Span<const uint32_t> cores);
  ~CoreBinding();
  CoreBinding(const CoreBinding&) = delete;
  CoreBinding& operator=(const CoreBinding&) = delete;

  // The cores that the calling thread may use, in order; empty where the system does not say.
  static std::vector<uint32_t> OfThread();

 private:
  std::vector<uint32_t> before_;  // empty: nothing to give back
};

}  // namespace mpsd
