// NoteAnswered, NoteUnanswered: tell an AdmissionMargin how a request has ended.
#pragma once

#include <cstdint>

#include "server/request/request.h"
#include "server/schedule/admission_margin.h"

namespace mpsd {

// Called for each request whose batch is back at `now_ns`. No forecast must keep a deadline that
// the client did not give. A request that was expected to be late says nothing.
inline void NoteAnswered(const Request& request, int64_t now_ns, AdmissionMargin* margin) {
  if (request.patience_ns > 0) return;
  if (!request.is_tried) {
    margin->NoteEnd(request.arrival_ns, request.answer_deadline_ns(), now_ns);
  }
  margin->NoteAnswer(request.arrival_ns, request.answer_deadline_ns(), now_ns);
}

// Called for each request that ends unanswered because of its deadline or client. If its wait is
// also limited and has not ended, that limit may have ended the request.
inline void NoteUnanswered(const Request& request, int64_t now_ns, AdmissionMargin* margin) {
  if (request.patience_ns > 0 || request.final_deadline_ns != 0 || request.is_tried) return;
  margin->NoteEnd(request.arrival_ns, request.deadline_ns, now_ns);
}

}  // namespace mpsd
