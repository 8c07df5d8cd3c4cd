// BodyInflation: has one compressed body decompressed on the inflater's threads.
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

// Step 1 of a compressed request, as accept/'s Inflation for gRPC. A task with its whole body calls
// Begin(). Its Resumed() comes once, when the body is plain or cannot be made so. The compressed
// bytes stay in the call meanwhile.
//
// Lives on the call's thread, except Run(), which an inflater's thread calls. Owned by a task and
// used again for each request.
class BodyInflation final : public InflationJob {
 public:
  // The threads and the ledger of `bounds` outlive the inflation.
  BodyInflation(InflaterThreads* threads, const InflateBounds& bounds)
      : threads_(threads), body_(bounds) {}

  // REQUIRES: the coding is gzip or deflate, and no inflation is under way.
  void Begin(BodyCoding coding, HttpCall* call);

  // Whether the next Resumed() is this one's; takes it. After true the functions below may be
  // called.
  bool TakeResumed() { return std::exchange(is_out_, false); }

  // Nobody awaits the body any more: it may stay compressed, and status() is then CANCELLED.
  // Resumed() still comes.
  void Drop() { is_dropped_.store(true, std::memory_order_relaxed); }

  // OK if the body is plain, else the client's answer.
  const absl::Status& status() const { return status_; }

  // Gives the plain bytes to the caller. They count as held until Clear().
  std::string TakeBytes() { return body_.Take(); }

  // Frees the bytes, or says that the caller has freed them.
  void Clear() { body_.Drop(); }

  void Run() override;

 private:
  InflaterThreads* const threads_;
  bool is_out_ = false;

  // Written by Begin(), read by Run(). Between them lies the threads' queue, and on the way back
  // the post of HttpCall::Resume().
  BodyCoding coding_ = BodyCoding::kPlain;
  HttpCall* call_ = nullptr;
  InflatedBody body_;
  absl::Status status_;
  std::atomic<bool> is_dropped_{false};
};

}  // namespace mpsd
