// BodyInflation: takes one compressed body to the inflater's threads, and back.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/http/http_call.h"
#include "server/inflate/inflated_body.h"
#include "server/inflate/inflater_threads.h"
#include "server/route/body_coding.h"

namespace mpsd {

// Step 1 of a request whose client compresses, as accept/'s Inflation for gRPC: a task whose whole
// body is there calls Begin(), and its Resumed() comes, once, when the body is plain or cannot be
// made so. The compressed bytes stay in the call meanwhile.
//
// Lives on the call's thread, except Run(), which one of the inflater's threads calls. Owned by a
// task and used again from request to request.
class BodyInflation final : public InflationJob {
 public:
  // The threads and the ledger of `bounds` outlive the inflation.
  BodyInflation(InflaterThreads* threads, const InflateBounds& bounds)
      : threads_(threads), body_(bounds) {}

  // REQUIRES: the coding is gzip or deflate, and no inflation is out.
  void Begin(BodyCoding coding, HttpCall* call);

  // Whether the next Resumed() is this one's, and takes it. After true the others below may be
  // called.
  bool TakeResumed() { return std::exchange(is_out_, false); }

  // Nobody awaits the body any more: it may stay compressed, and status() is then CANCELLED.
  // Resumed() still comes.
  void Drop() { is_dropped_.store(true, std::memory_order_relaxed); }

  // OK when the body is plain, else what the client is told.
  const absl::Status& status() const { return status_; }

  // Gives the plain bytes to the caller. They count as held until Clear().
  std::string TakeBytes() { return body_.Take(); }

  // Frees the bytes, or says that the caller has freed them.
  void Clear() { body_.Drop(); }

  void Run() override;

 private:
  InflaterThreads* const threads_;
  bool is_out_ = false;

  // Written by Begin(), read by Run(); the queue of the threads lies between, and on the way back
  // the post of HttpCall::Resume().
  BodyCoding coding_ = BodyCoding::kPlain;
  HttpCall* call_ = nullptr;
  InflatedBody body_;
  absl::Status status_;
  std::atomic<bool> is_dropped_{false};
};

}  // namespace mpsd
