// AnswerCache: the answers that a generation of a model has given, for requests that are equal.
#pragma once

#include "server/request/reply.h"
#include "server/request/request.h"

namespace mpsd {

// Asked by admission once a request is checked, told by the reply step of each answer. Owned by the
// generation, with which its answers go: a reload begins with none. Implemented by cache/. No
// method blocks. Thread-safe.
class AnswerCache {
 public:
  virtual ~AnswerCache() = default;

  // Gives the request the answer that an equal one has had, and returns true: the request has ended
  // then, and may be in use for the next call. Otherwise false, and request->cache_key says whether
  // its answer is to be kept. The answer is that of the model, before it takes the form that a
  // client wants. REQUIRES: the request is kNew and checked, and its model gives one answer.
  virtual bool TryAnswer(Request* request) = 0;

  // Keeps a copy of the answer, if there is room for one so large. REQUIRES: the request has a
  // cache_key, and the answer is its whole one.
  virtual void Keep(const Request& request, const Answer& answer) = 0;
};

}  // namespace mpsd
