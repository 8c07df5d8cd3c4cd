// AnswerCache: a generation's kept answers, for equal requests.
#pragma once

#include "server/request/reply.h"
#include "server/request/request.h"

namespace mpsd {

// Admission asks it once a request is checked; the reply step tells it each answer. Owned by the
// generation, with which its answers go: a reload starts with none. Implemented by cache/. No
// method blocks. Thread-safe.
class AnswerCache {
 public:
  virtual ~AnswerCache() = default;

  // Gives the request the answer of an equal one, and returns true: the request has ended then, and
  // may be in use for the next call. Otherwise false, and request->cache_key says whether to keep
  // its answer. The answer is the model's, before it takes the form that a client wants. REQUIRES:
  // the request is kNew and checked, and its model gives one answer.
  virtual bool TryAnswer(Request* request) = 0;

  // Keeps a copy of the answer if there is room. REQUIRES: the request has a cache_key, and the
  // answer is complete.
  virtual void Keep(const Request& request, const Answer& answer) = 0;
};

}  // namespace mpsd
