// AnswerStatistics: what became of a decoupled model's answers, by their index in their request.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/telemetry/inference_statistics.h"

namespace mpsd {

enum class AnswerOutcome : uint8_t {
  kSent,       // with its outputs
  kFailed,     // an error stands in its place
  kNoMore,     // the request had all its answers before
  kCancelled,  // the request was cancelled before it
};

// Thread-safe. Written once an answer, before it is sent: whoever has it finds it counted. Takes
// memory once, with the first answer, so that other models take none.
class AnswerStatistics {
 public:
  // What is beyond counts for the last one.
  static constexpr uint32_t kMaxIndices = 64;

  struct Index {
    CountAndTime compute_infer;   // of those that were sent and of kNoMore
    CountAndTime compute_output;  // of those that were sent
    CountAndTime sent;
    CountAndTime failed;
    CountAndTime no_more;
    CountAndTime cancelled;
  };

  // The lane worked `infer_ns` for it, and `output_ns` later it was on its way; zero where no lane
  // came to an end with it.
  void Add(uint32_t index, AnswerOutcome outcome, int64_t infer_ns, int64_t output_ns)
      ABSL_LOCKS_EXCLUDED(mu_);

  // [i]: the answers of index i, up to the highest that there was.
  std::vector<Index> Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  std::vector<Index> by_index_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
