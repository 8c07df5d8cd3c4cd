// NoteDeadline: tells an AdmissionMargin how a request has ended.
#pragma once

#include <cstdint>

#include "server/request/request.h"
#include "server/schedule/admission_margin.h"

namespace mpsd {

// To be called for each request that ends with its answer, or without one because of its deadline
// or its client. A deadline that the client did not give is none that a forecast has to keep.
inline void NoteDeadline(const Request& request, int64_t now_ns, AdmissionMargin* margin) {
  if (request.patience_ns > 0) return;
  margin->NoteEnd(request.arrival_ns, request.answer_deadline_ns(), now_ns);
}

}  // namespace mpsd
