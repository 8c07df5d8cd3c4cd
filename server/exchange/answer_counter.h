// AnswerCounter: counts the answers of one request to a decoupled model by their outcome.
#pragma once

#include <cstdint>

#include "server/request/request.h"
#include "server/telemetry/answer_statistics.h"

namespace mpsd {

// Whether the request goes to a model that gives any number of answers. False while the request has
// no model yet. Thread-safe.
bool IsDecoupled(const Request& request);

// Thread-compatible. Owned by an InferExchange and used again from request to request. Answers of
// one request never overlap, so that no two threads count at a time.
class AnswerCounter {
 public:
  // Counts the answer that is about to be sent. The time since the answer before it is its own.
  // Does nothing for a request that was not admitted, or whose model is not decoupled.
  void Add(const Request& request, AnswerOutcome outcome);

  // Makes the counter fit for the next request.
  void Clear();

 private:
  StageSums counted_;  // the request's sums at the answer that was counted last
  uint32_t sent_ = 0;
};

}  // namespace mpsd
