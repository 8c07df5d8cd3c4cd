// CoreBinding: keeps a thread on some cores of the host, implemented in core_binding_linux.cc and
// core_binding_macos.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace mpsd {

// While it lives, the thread that made it runs on these cores. A child of the thread inherits them
// for good, and memory that the thread touches first is from their node. Without cores, if the
// kernel refuses, or on macOS, nothing changes. Lives on one thread.
class CoreBinding {
 public:
  explicit CoreBinding(absl::Span<const uint32_t> cores);
  ~CoreBinding();
  CoreBinding(const CoreBinding&) = delete;
  CoreBinding& operator=(const CoreBinding&) = delete;

  // In order; empty if the system does not say.
  static std::vector<uint32_t> OfThread();

 private:
  std::vector<uint32_t> before_;  // empty: nothing to undo
};

}  // namespace mpsd
