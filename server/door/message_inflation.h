// MessageInflation: has one compressed message decompressed on the inflater's threads.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/task_threads.h"
#include "server/bodies/inflate/inflated_body.h"
#include "server/door/route/body_coding.h"
#include "server/http/http_call.h"

namespace mpsd {

// REQUIRES: gzip or deflate.
CompressedForm FormOf(BodyCoding coding);

// Step 1 of a compressed request, before anybody reads it. The message is the body of an HTTP
// request or one message of a gRPC call. A task that has the whole message calls Begin(). Its
// `done` is called once, when the message is plain or cannot be made so, and has the task's
// Resumed() come.
//
// Lives on the call's thread, except Run(), which an inflater's thread calls. Owned by a task and
// used again for each message.
class MessageInflation {
 public:
  // The threads and the ledger of `bounds` outlive the inflation.
  MessageInflation(TaskThreads* threads, const InflateBounds& bounds)
      : threads_(threads), plain_(bounds) {}

  // The caller keeps the bytes until Resumed(). REQUIRES: the coding is gzip or deflate, and no
  // inflation is under way.
  void Begin(BodyCoding coding, absl::string_view bytes, HttpCall* call) {
    Begin(coding, bytes, call, [call] { call->Resume(); });
  }
  // The same for a task of several messages. An inflater's thread calls `done`.
  void Begin(BodyCoding coding, absl::string_view bytes, HttpCall* call,
             std::function<void()> done);

  // Whether the next Resumed() is this one's; takes it. After true the functions below may be
  // called.
  bool TakeResumed() { return std::exchange(is_out_, false); }

  // Nobody awaits the message any more: it may stay compressed, and status() is then CANCELLED.
  // Resumed() still comes.
  void Drop() { is_dropped_.store(true, std::memory_order_relaxed); }

  // OK if the message is plain, else the client's answer.
  const absl::Status& status() const { return status_; }

  // Gives the plain bytes to the caller. They count as held until Clear().
  std::string TakeBytes() { return plain_.Take(); }

  // Frees the bytes, or says that the caller has freed them.
  void Clear() { plain_.Drop(); }

 private:
  void Run();

  TaskThreads* const threads_;
  bool is_out_ = false;

  // Written by Begin(), read by Run(). Between them lies the threads' queue, and on the way back
  // the post of HttpCall::Resume().
  CompressedForm form_ = CompressedForm::kGzip;
  absl::string_view bytes_;
  HttpCall* call_ = nullptr;
  std::function<void()> done_;
  InflatedBody plain_;
  absl::Status status_;
  std::atomic<bool> is_dropped_{false};
};

}  // namespace mpsd
