#include "server/request/request.h"

#include <utility>

namespace mpsd {

void Request::ForgetModel() {
  MPSD_CHECK(state == RequestState::kNew);
  model.reset();
  metrics = nullptr;
  rows = 1;
  rows_behind = 0;
  key.clear();
  inputs.clear();
  wanted_outputs.clear();
  ForgetTexts();
  cache_key.reset();
  filler = nullptr;
  is_arriving = false;
  rest = {};
  sequence = nullptr;
  priority = 0;
  level = 0;
  yields = false;
  EndWait();
}

void Request::StandFor(const Request& whole) {
  MPSD_CHECK(state == RequestState::kNew);
  model = whole.model;
  metrics = whole.metrics;
  rows = whole.rows;
  arrival_ns = whole.arrival_ns;
  patience_ns = whole.patience_ns;
  deadline_ns = whole.deadline_ns;
  final_deadline_ns = whole.final_deadline_ns;
  key = whole.key;
  inputs = whole.inputs;
  wanted_outputs = whole.wanted_outputs;
  filler = whole.filler;
  tenant = whole.tenant;
  rules_version = whole.rules_version;
  inputs_may_change = whole.inputs_may_change;
  priority = whole.priority;
  level = whole.level;
  yields = whole.yields;
}

void Request::ForgetTexts() {
  tokens.reset();
  token_count = truncated_texts = 0;
  row_of_text.clear();
}

void Request::LimitWait(int64_t until_ns) {
  MPSD_CHECK(state == RequestState::kNew && final_deadline_ns == 0);
  if (until_ns >= deadline_ns) return;
  final_deadline_ns = std::exchange(deadline_ns, until_ns);
}

void Request::Delay() {
  MPSD_CHECK(MayBeDelayed(deadline_ns) && !delayed);
  EndWait();
  delayed = true;
}

void Request::EndWait() {
  if (final_deadline_ns != 0) deadline_ns = std::exchange(final_deadline_ns, 0);
}

void Request::Reset() {
  MPSD_CHECK(!reply.owed());
  state = RequestState::kNew;
  ForgetModel();
  queue = nullptr;
  tenant = 0;
  rules_version = 0;
  is_counted = false;
  is_step = false;
  inputs_may_change = false;
  pin = 0;
  span.reset();
  arrival_ns = 0;
  patience_ns = 0;
  deadline_ns = 0;
  cancelled = false;
  is_tried = false;
  is_unforeseen = false;
  suspect = false;
  delayed = false;
  dispatches = 0;
  crashes = 0;
  answers = 0;
  given_up = absl::OkStatus();
  place = {};
  rows_at.clear();
  content = 0;
  times = {};
  sums = {};
  is_answered = false;
  queued_bytes = 0;
  output_bytes = 0;
  charged_ns = 0;
}

}  // namespace mpsd
