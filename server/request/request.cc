#include "server/request/request.h"

namespace mpsd {

void Request::Reset() {
  MPSD_CHECK(!reply.owed());
  queue = nullptr;
  metrics = nullptr;
  rows = 1;
  arrival_ns = 0;
  deadline_ns = 0;
  key.clear();
  inputs.clear();
  wanted_outputs.clear();
  state = RequestState::kNew;
  suspect = false;
  dispatches = 0;
  place = {};
  queued_bytes = 0;
  previous = nullptr;
  next = nullptr;
}

}  // namespace mpsd
