// AnswerCache: kept answers, for equal requests.
#pragma once

#include "server/request/reply.h"
#include "server/request/request.h"

namespace mpsd {

// Asked by admission, told by the reply step. Owned by a generation: a reload starts with no
// answers. No method blocks. Implemented by cache/. Thread-safe.
class AnswerCache {
 public:
  virtual ~AnswerCache() = default;

  // True: the request got the answer of an equal one and has ended; it may be in use for the next
  // call. Otherwise request->cache_key says whether to keep its answer. Answers are the model's,
  // before the form that a client wants. REQUIRES: the request is kNew and checked, and its model
  // gives one answer.
  virtual bool TryAnswer(Request* request) = 0;

  // Copies the answer if there is room. REQUIRES: a cache_key, and a complete answer.
  virtual void Keep(const Request& request, const Answer& answer) = 0;
};

}  // namespace mpsd
