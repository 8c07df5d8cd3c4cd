#include "server/accept/call_endings.h"

#include <algorithm>

namespace mpsd {
namespace {

constexpr size_t kKeptScratchBytes = 64 << 10;

}  // namespace

void CountEnding(const Request& request, absl::StatusCode code, ServerMetrics* server,
                 const Clock* clock) {
  const size_t index = std::min<size_t>(static_cast<size_t>(code), kStatusCodes - 1);
  if (request.metrics == nullptr) {
    server->refused_by_code[index].fetch_add(1, std::memory_order_relaxed);
    return;
  }
  request.metrics->requests_by_code[index].fetch_add(1, std::memory_order_relaxed);
  if (code == absl::StatusCode::kOk || request.queue == nullptr || request.is_answered) return;
  request.metrics->inference.AddFailure(clock->NowNs() - request.arrival_ns);
}

void TrimScratch(std::string* scratch) {
  if (scratch->capacity() > kKeptScratchBytes) std::string().swap(*scratch);
}

}  // namespace mpsd
