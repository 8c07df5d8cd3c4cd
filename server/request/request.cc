#include "server/request/request.h"

namespace mpsd {

void Request::ForgetModel() {
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
  ForgetModel();
  queue = nullptr;
  arrival_ns = 0;
  deadline_ns = 0;
  state = RequestState::kNew;
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
