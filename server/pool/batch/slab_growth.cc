#include "server/pool/batch/slab_growth.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "server/pool/batch/slab_sizing.h"

namespace mpsd {

bool SlabGrowth::Miss(uint64_t missed_bytes, const Memory& memory, int64_t now_ns) {
  MPSD_CHECK(missed_bytes > 0);
  if (now_ns < paused_until_ns_) return false;
  if (memory.segments >= kMaxSlabSegments || memory.bytes + missed_bytes > memory.max_bytes) {
    paused_until_ns_ = now_ns + kPauseNs;
    return false;
  }
  const bool first = asked_bytes_ == 0;
  asked_bytes_ = std::max(asked_bytes_, missed_bytes);
  return first && !taken_;
}

std::optional<uint64_t> SlabGrowth::Take(uint64_t have_bytes) {
  if (asked_bytes_ == 0 || taken_) return std::nullopt;
  taken_ = true;
  return GrowthBytes(std::exchange(asked_bytes_, 0), have_bytes, platform::PageBytes());
}

void SlabGrowth::Granted() {
  taken_ = false;
  asked_bytes_ = 0;
}

void SlabGrowth::Refused(int64_t now_ns) {
  taken_ = false;
  asked_bytes_ = 0;
  paused_until_ns_ = now_ns + kPauseNs;
}

}  // namespace mpsd
