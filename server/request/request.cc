#include "server/request/request.h"

#include <utility>

namespace mpsd {

void Request::ForgetModel() {
  MPSD_CHECK(state == RequestState::kNew);
  model.reset();
  metrics = nullptr;
  rows = 1;
  key.clear();
  inputs.clear();
  wanted_outputs.clear();
  ForgetTexts();
  cache_key.reset();
  filler = nullptr;
  priority = 0;
  level = 0;
  yields = false;
  EndWait();
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
  is_step = false;
  inputs_may_change = false;
  span.reset();
  arrival_ns = 0;
  patience_ns = 0;
  deadline_ns = 0;
  cancelled = false;
  suspect = false;
  delayed = false;
  dispatches = 0;
  answers = 0;
  given_up = absl::OkStatus();
  place = {};
  times = {};
  sums = {};
  is_answered = false;
  queued_bytes = 0;
  charged_ns = 0;
}

}  // namespace mpsd
