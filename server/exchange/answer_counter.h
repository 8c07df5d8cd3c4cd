// AnswerCounter: counts one request's answers from a decoupled model, by outcome.
#pragma once

#include <cstdint>

#include "server/request/request.h"
#include "server/telemetry/answer_statistics.h"

namespace mpsd {

// Whether the request's model gives any number of answers (decision 0011). False while the request
// has no model yet. Thread-safe.
bool IsDecoupled(const Request& request);

// Counts one request's answers for ModelMetrics::answers, and how much of its time in batches the
// earlier ones took. An ordinary model's request has one answer, counted by its ending and not
// here.
//
//   begun ── Add(kSent) ── Add(kSent) ── Add(kNoMore), or kFailed, or kCancelled ── Clear
//            index 0       index 1       index 2
//
// Thread-compatible. Owned by an InferExchange and reused. Answers of one request come from any
// thread but never overlap, so no two threads count at a time.
class AnswerCounter {
 public:
  // Counts the answer that is about to be sent, or the ending in its place. It is charged the
  // request's time in batches since the last answer. Does nothing if the request was not admitted,
  // or its model is not decoupled.
  void Add(const Request& request, AnswerOutcome outcome);

  void Clear();

 private:
  StageSums counted_;  // the request's sums at the last counted answer
  uint32_t sent_ = 0;  // index of the next answer
};

}  // namespace mpsd
