#include <sched.h>

#include "proto/base/core_binding.h"

namespace mpsd {
namespace {

bool Bind(absl::Span<const uint32_t> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const uint32_t core : cores) {
    if (core < CPU_SETSIZE) CPU_SET(core, &set);
  }
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

}  // namespace

std::vector<uint32_t> CoreBinding::OfThread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<uint32_t> cores;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

CoreBinding::CoreBinding(absl::Span<const uint32_t> cores) {
  if (cores.empty()) return;
  before_ = OfThread();
  if (!before_.empty() && !Bind(cores)) before_.clear();
}

CoreBinding::~CoreBinding() {
  if (!before_.empty()) Bind(before_);
}

}  // namespace mpsd
