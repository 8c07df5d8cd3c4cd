// AnswerStatistics: counts and times of a decoupled model's answers, by their index in the request.
//
// A decoupled model gives any number of answers to one request. The first answer's time means
// something else than a later one's, so they are counted apart, as `response_stats` of
// ModelStatistics. The whole request counts in InferenceStatistics, as for any model.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/telemetry/inference_statistics.h"

namespace mpsd {

// How the wait for an answer ended. Every outcome except kSent is the last of its request.
enum class AnswerOutcome : uint8_t {
  kSent,       // with its outputs
  kFailed,     // an error was sent instead
  kNoMore,     // the request already had all its answers
  kCancelled,  // the request was cancelled first
};

// Part of ModelMetrics. Thread-safe. AnswerCounter calls Add() once for each answer, before it is
// sent: a client with an answer finds it counted. The ModelStatistics method calls Read().
//
// At most kMaxIndices entries, however many answers a request has. They are allocated at the first
// answer: a model that is not decoupled, and later answers, allocate nothing. The mutex is held for
// a few additions, or for one copy by Read().
class AnswerStatistics {
 public:
  // Answers with a higher index count for the last one.
  static constexpr uint32_t kMaxIndices = 64;

  struct Index {
    CountAndTime compute_infer;   // for kSent and kNoMore
    CountAndTime compute_output;  // for kSent
    // One for each AnswerOutcome. The time is the lane's; for the first two it includes the way
    // out.
    CountAndTime sent;
    CountAndTime failed;
    CountAndTime no_more;
    CountAndTime cancelled;
  };

  // `infer_ns`: the lane's work on the answer. `output_ns`: from then until the transport got the
  // answer. Both are 0 if no lane completed the answer.
  void Add(uint32_t index, AnswerOutcome outcome, int64_t infer_ns, int64_t output_ns)
      ABSL_LOCKS_EXCLUDED(mu_);

  // [i] has the answers of index i, up to the highest index so far.
  std::vector<Index> Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  std::vector<Index> by_index_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
