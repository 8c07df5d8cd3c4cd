// NoteAnswered, NoteUnanswered: tell an AdmissionMargin how a request has ended.
#pragma once

#include <cstdint>

#include "server/request/request.h"
#include "server/schedule/admission_margin.h"

namespace mpsd {

// To be called for each request whose batch is back at `now_ns`. A deadline that the client did not
// give is none that a forecast has to keep. A request that is late as foreseen says nothing.
inline void NoteAnswered(const Request& request, int64_t now_ns, AdmissionMargin* margin) {
  if (request.patience_ns > 0) return;
  if (!request.is_tried) {
    margin->NoteEnd(request.arrival_ns, request.answer_deadline_ns(), now_ns);
  }
  margin->NoteAnswer(request.arrival_ns, request.answer_deadline_ns(), now_ns);
}

// To be called for each request that ends without an answer because of its deadline or its client.
// One whose wait is limited besides, and has not ended, may have ended because of that limit.
inline void NoteUnanswered(const Request& request, int64_t now_ns, AdmissionMargin* margin) {
  if (request.patience_ns > 0 || request.final_deadline_ns != 0 || request.is_tried) return;
  margin->NoteEnd(request.arrival_ns, request.deadline_ns, now_ns);
}

}  // namespace mpsd
