// AnswerCounter: counts the answers of one request to a decoupled model by their outcome.
#pragma once

#include <cstdint>

#include "server/request/request.h"
#include "server/telemetry/answer_statistics.h"

namespace mpsd {

// Whether the request goes to a model that gives any number of answers (decision 0011). False while
// the request has no model yet. Thread-safe.
bool IsDecoupled(const Request& request);

// Keeps what ModelMetrics::answers needs to know of one request: how many answers it has had, and
// how much of its time in batches the earlier ones took. A request of an ordinary model has one
// answer, which its ending counts; for it nothing is counted here.
//
//   begun ── Add(kSent) ── Add(kSent) ── Add(kNoMore), or kFailed, or kCancelled ── Clear
//            index 0       index 1       index 2
//
// Thread-compatible. Owned by an InferExchange and used again from request to request. Answers of
// one request never overlap, so that no two threads count at a time, though each may come from
// another thread.
class AnswerCounter {
 public:
  // Counts the answer that is about to be sent, or the ending that takes its place. The time that
  // the request spent in batches since the answer before it is its own. Does nothing for a request
  // that was not admitted, or whose model is not decoupled.
  void Add(const Request& request, AnswerOutcome outcome);

  // Makes the counter fit for the next request.
  void Clear();

 private:
  StageSums counted_;  // the request's sums at the answer that was counted last
  uint32_t sent_ = 0;  // the index of the next answer
};

}  // namespace mpsd
