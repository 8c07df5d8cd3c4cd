#include "proto/base/core_binding.h"

namespace mpsd {

std::vector<uint32_t> CoreBinding::OfThread() { return {}; }

CoreBinding::CoreBinding(absl::Span<const uint32_t> /*cores*/) {}

CoreBinding::~CoreBinding() = default;

}  // namespace mpsd
