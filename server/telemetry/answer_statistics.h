// AnswerStatistics: counts and times of a decoupled model's answers, by their index in the request.
//
// The first answer's time means something else than a later one's, so they are counted apart, as
// `response_stats` of ModelStatistics.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/telemetry/inference_statistics.h"

namespace mpsd {

// Every outcome except kSent is the last of its request.
enum class AnswerOutcome : uint8_t {
  kSent,
  kFailed,     // an error was sent instead
  kNoMore,     // the request already had all its answers
  kCancelled,  // the request was cancelled first
};

// Part of ModelMetrics. Thread-safe. At most kMaxIndices entries, allocated at the first answer.
// The mutex is held for a few additions, or for one copy by Read().
class AnswerStatistics {
 public:
  // Answers with a higher index count for the last one.
  static constexpr uint32_t kMaxIndices = 64;

  struct Index {
    CountAndTime compute_infer;   // kSent and kNoMore
    CountAndTime compute_output;  // kSent
    // One for each AnswerOutcome. The time is the lane's; for the first two it includes the way
    // out.
    CountAndTime sent;
    CountAndTime failed;
    CountAndTime no_more;
    CountAndTime cancelled;
  };

  // Called once for each answer, before it is sent. `infer_ns`: the lane's work. `output_ns`: from
  // then until the transport got the answer. Both are 0 if no lane completed the answer.
  void Add(uint32_t index, AnswerOutcome outcome, int64_t infer_ns, int64_t output_ns)
      ABSL_LOCKS_EXCLUDED(mu_);

  // [i] has the answers of index i.
  std::vector<Index> Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  std::vector<Index> by_index_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
