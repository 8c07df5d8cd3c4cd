// MessageInflation: decompresses one message on the inflater's threads.
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

// Step 1 of a compressed request. `done` is called once, when the message is plain or cannot be
// made so, and has Resumed() come.
//
// Lives on the call's thread, except Run(), for an inflater's thread. Owned by a task and used
// again.
class MessageInflation {
 public:
  // The threads and the ledger of `bounds` outlive this.
  MessageInflation(TaskThreads* threads, const InflateBounds& bounds)
      : threads_(threads), plain_(bounds) {}

  // The caller keeps the bytes until Resumed(). REQUIRES: gzip or deflate, and no inflation is out.
  void Begin(BodyCoding coding, absl::string_view bytes, HttpCall* call) {
    Begin(coding, bytes, call, [call] { call->Resume(); });
  }
  // For a task of several messages. An inflater's thread calls `done`.
  void Begin(BodyCoding coding, absl::string_view bytes, HttpCall* call,
             std::function<void()> done);

  // Whether this Resumed() is the inflation's; takes it. Then the functions below may be called.
  bool TakeResumed() { return std::exchange(is_out_, false); }

  // The message may stay compressed: status() is then CANCELLED. Resumed() still comes.
  void Drop() { is_dropped_.store(true, std::memory_order_relaxed); }

  // OK, or the client's answer.
  const absl::Status& status() const { return status_; }

  // The bytes count as held until Clear().
  std::string TakeBytes() { return plain_.Take(); }

  // Frees the bytes, or says that the caller freed them.
  void Clear() { plain_.Drop(); }

 private:
  void Run();

  TaskThreads* const threads_;
  bool is_out_ = false;

  // Written by Begin(), read by Run(): the threads' queue orders them, and the post of
  // HttpCall::Resume() the way back.
  CompressedForm form_ = CompressedForm::kGzip;
  absl::string_view bytes_;
  HttpCall* call_ = nullptr;
  std::function<void()> done_;
  InflatedBody plain_;
  absl::Status status_;
  std::atomic<bool> is_dropped_{false};
};

}  // namespace mpsd
