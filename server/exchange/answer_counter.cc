#include "server/exchange/answer_counter.h"

#include "server/request/served_model.h"

namespace mpsd {

bool IsDecoupled(const Request& request) {
  return request.model != nullptr && request.model->loaded && request.model->spec.decoupled;
}

void AnswerCounter::Add(const Request& request, AnswerOutcome outcome) {
  if (request.queue == nullptr || !IsDecoupled(request)) return;
  const StageSums& sums = request.sums;
  request.metrics->answers.Add(sent_, outcome, sums.infer_ns - counted_.infer_ns,
                               sums.output_ns - counted_.output_ns);
  counted_ = sums;
  if (outcome == AnswerOutcome::kSent) ++sent_;
}

void AnswerCounter::Clear() {
  counted_ = {};
  sent_ = 0;
}

}  // namespace mpsd
