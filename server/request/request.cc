#include "server/request/request.h"

namespace mpsd {

void Request::ForgetModel() {
  MPSD_CHECK(state == RequestState::kNew);
  model.reset();
  metrics = nullptr;
  rows = 1;
  key.clear();
  inputs.clear();
  wanted_outputs.clear();
  filler = nullptr;
}

void Request::Reset() {
  MPSD_CHECK(!reply.owed());
  state = RequestState::kNew;
  ForgetModel();
  queue = nullptr;
  arrival_ns = 0;
  patience_ns = 0;
  deadline_ns = 0;
  cancelled = false;
  suspect = false;
  dispatches = 0;
  answers = 0;
  given_up = absl::OkStatus();
  place = {};
  times = {};
  sums = {};
  is_answered = false;
  queued_bytes = 0;
  previous = nullptr;
  next = nullptr;
}

}  // namespace mpsd
