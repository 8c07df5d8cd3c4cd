#include "server/supervise/memory_budget.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "proto/base/units.h"

namespace mpsd {
namespace {

// For the front end's own heap and the workers' models.
constexpr uint64_t kKeptFreeBytes = 32ULL << 20;

}  // namespace

absl::Status MemoryBudget::Take(uint64_t bytes, const std::string& what, uint64_t spared_bytes) {
  if (cap_bytes_ > 0 && bytes > cap_bytes_ - taken_bytes()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        what, " needs ", BytesText(bytes), " of shared memory, but of the ", BytesText(cap_bytes_),
        " that limits.shared_memory allows ", BytesText(taken_bytes()), " are taken"));
  }
  const uint64_t available = platform::AvailableMemoryBytes();
  if (bytes > available - std::min(available, kKeptFreeBytes + spared_bytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, " needs ", BytesText(bytes), " of shared memory, but the host and its",
                     " memory cgroup have only ", BytesText(available), " left"));
  }
  taken_->fetch_add(bytes, std::memory_order_relaxed);
  return absl::OkStatus();
}

void MemoryBudget::GiveBack(uint64_t bytes) {
  MPSD_CHECK(taken_->fetch_sub(bytes, std::memory_order_relaxed) >= bytes);
}

std::shared_ptr<void> MemoryBudget::Share(uint64_t bytes) {
  // The pointer refers to the counter, from which its deleter subtracts.
  return std::shared_ptr<void>(taken_.get(), [taken = taken_, bytes](void*) {
    taken->fetch_sub(bytes, std::memory_order_relaxed);
  });
}

}  // namespace mpsd
