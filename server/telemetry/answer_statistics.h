// AnswerStatistics: counts and times of a decoupled model's answers, by their index in the request.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/telemetry/inference_statistics.h"

namespace mpsd {

enum class AnswerOutcome : uint8_t {
  kSent,       // with its outputs
  kFailed,     // an error was sent instead
  kNoMore,     // the request already had all its answers
  kCancelled,  // the request was cancelled first
};

// Part of ModelMetrics. Thread-safe. Add() is called once for each answer, before the answer is
// sent: a client that has an answer finds it counted. Allocates once, at the first answer, so a
// model that is not decoupled allocates nothing.
class AnswerStatistics {
 public:
  // Answers with a higher index count for the last one.
  static constexpr uint32_t kMaxIndices = 64;

  struct Index {
    CountAndTime compute_infer;   // of kSent and kNoMore
    CountAndTime compute_output;  // of kSent
    CountAndTime sent;
    CountAndTime failed;
    CountAndTime no_more;
    CountAndTime cancelled;
  };

  // `infer_ns`: how long the lane worked on the answer. `output_ns`: from then until the answer was
  // handed to the transport. Both are 0 if no lane completed the answer.
  void Add(uint32_t index, AnswerOutcome outcome, int64_t infer_ns, int64_t output_ns)
      ABSL_LOCKS_EXCLUDED(mu_);

  // [i] has the answers of index i, up to the highest index so far.
  std::vector<Index> Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  std::vector<Index> by_index_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
