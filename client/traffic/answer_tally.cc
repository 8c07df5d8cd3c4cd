#include "client/traffic/answer_tally.h"

namespace mpsd::traffic {

AnswerTally::AnswerTally(const LoadPlan& plan, const std::vector<PreparedRequest>& requests)
    : plan_(plan), check_(plan.expectation, plan.streams > 0, &requests) {
  counts_.timeline = Timeline(plan.timeline_ns);
}

void AnswerTally::Count(const Window& window, int64_t now_ns, int64_t intended_ns, uint32_t request,
                        grpc::StatusCode code, grpc::ByteBuffer* answer) {
  const bool right = code == grpc::StatusCode::OK && check_.Right(request, answer);
  CountChecked(window, now_ns, intended_ns, code, right);
}

void AnswerTally::CountChecked(const Window& window, int64_t now_ns, int64_t intended_ns,
                               grpc::StatusCode code, bool right) {
  const bool in_window = window.Holds(now_ns);
  const bool ok = code == grpc::StatusCode::OK;
  const int64_t latency_ns = now_ns - intended_ns;
  const bool good = right && (plan_.slo_ns == 0 || latency_ns <= plan_.slo_ns);
  if (in_window) {
    ++counts_.ended_in_window;
    if (right) ++counts_.answered_in_window;
    if (good) ++counts_.good_in_window;
    counts_.timeline.Count(good ? Timeline::kGood : Timeline::kOther, now_ns - window.begin_ns);
  }
  // An open loop counts by intended time, so that slow calls do not drop out of the figures.
  const bool counts = plan_.arrivals.IsOpen() ? window.Holds(intended_ns) : in_window;
  if (right && counts) counts_.latency.Record(latency_ns);
  if (good && counts) ++counts_.good;
  if (!ok) ++counts_.errors[code];
  if (ok && !right) ++counts_.wrong;
}

}  // namespace mpsd::traffic
