// AnswerStatistics: counts and times of a decoupled model's answers, by their index in the request.
//
// A decoupled model gives any number of answers to one request. How long the first one takes tells
// something else than how long a further one takes, so they are counted apart. ModelStatistics
// shows them as `response_stats`. The request as a whole counts in InferenceStatistics, like one of
// any other model.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/telemetry/inference_statistics.h"

namespace mpsd {

// How the wait for a further answer ended. Every outcome but kSent is the last of its request.
enum class AnswerOutcome : uint8_t {
  kSent,       // with its outputs
  kFailed,     // an error was sent instead
  kNoMore,     // the request already had all its answers
  kCancelled,  // the request was cancelled first
};

// Part of ModelMetrics. Thread-safe. Add() is called by AnswerCounter, once for each answer, before
// the answer is sent: a client that has an answer finds it counted. Read() is called by the
// ModelStatistics method.
//
// Bounds: at most kMaxIndices entries, whatever number of answers a request has. They are allocated
// at once, at the first answer: a model that is not decoupled allocates nothing, and a later answer
// allocates nothing either. The mutex is held for a few additions, or for one copy by Read().
class AnswerStatistics {
 public:
  // Answers with a higher index count for the last one.
  static constexpr uint32_t kMaxIndices = 64;

  // The outcomes at one index, over all requests.
  struct Index {
    CountAndTime compute_infer;   // of kSent and kNoMore
    CountAndTime compute_output;  // of kSent
    // One for each AnswerOutcome; the time is that of the lane, for the first two with that of the
    // way out.
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
