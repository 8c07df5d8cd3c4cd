#include "server/telemetry/answer_statistics.h"

#include <algorithm>

namespace mpsd {

void AnswerStatistics::Add(uint32_t index, AnswerOutcome outcome, int64_t infer_ns,
                           int64_t output_ns) {
  const size_t kept = std::min(index, kMaxIndices - 1);
  absl::MutexLock lock(&mu_);
  by_index_.reserve(kMaxIndices);
  if (by_index_.size() <= kept) by_index_.resize(kept + 1);
  Index& counts = by_index_[kept];
  switch (outcome) {
    case AnswerOutcome::kSent:
      counts.compute_infer.Add(1, infer_ns);
      counts.compute_output.Add(1, output_ns);
      counts.sent.Add(1, infer_ns + output_ns);
      return;
    case AnswerOutcome::kFailed:
      counts.failed.Add(1, infer_ns + output_ns);
      return;
    case AnswerOutcome::kNoMore:
      counts.compute_infer.Add(1, infer_ns);
      counts.no_more.Add(1, infer_ns);
      return;
    case AnswerOutcome::kCancelled:
      counts.cancelled.Add(1, infer_ns);
      return;
  }
}

std::vector<AnswerStatistics::Index> AnswerStatistics::Read() const {
  absl::MutexLock lock(&mu_);
  return by_index_;
}

}  // namespace mpsd
