#include "server/request/request.h"

#include <utility>

#include "absl/strings/str_cat.h"

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
  tenant = 0;
  rules_version = 0;
  is_counted = false;
  is_step = false;
  inputs_may_change = false;
  bunch = nullptr;
  pin = 0;
  span.reset();
  arrival_ns = 0;
  patience_ns = 0;
  RequestTicket fresh;
  rows_at.clear();
  fresh.rows_at.swap(rows_at);  // whose memory stays
  static_cast<RequestTicket&>(*this) = std::move(fresh);
  static_cast<RequestOutcome&>(*this) = {};
}

absl::Status CancelledByClient() { return absl::CancelledError("the client cancelled the call"); }

absl::Status NoWorkerInTime(absl::string_view model) {
  return absl::UnavailableError(
      absl::StrCat("Request for model '", model,
                   "' is not at ready state: no worker can serve it before the deadline"));
}

}  // namespace mpsd
