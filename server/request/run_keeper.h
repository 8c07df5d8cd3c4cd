// RunKeeper: forgets a request's run when it ends.
#pragma once

namespace mpsd {

struct Request;

// A request that is made of others has a run, which its queue finds by the request. Implemented by
// StepQueue and PartedQueue. Thread-safe.
class RunKeeper {
 public:
  // The request ends now: nobody finds the run by it any more.
  virtual void Leave(Request* request) = 0;

 protected:
  ~RunKeeper() = default;
};

}  // namespace mpsd
