// Inflation: has one compressed message decompressed on the inflater's threads.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/accept/queue_tag.h"
#include "server/inflate/inflater.h"
#include "server/inflate/inflater_threads.h"

namespace mpsd {

// Step 1 of a compressed request. A call with a message calls Begin(). After false it goes on at
// once; otherwise it returns to its queue and goes on when the tag comes:
//
//   if (inflation_.Begin(inflaters, queue, &bytes, &inflated_, [&] { return rpc.peer(); })) return;
//   Serve();
//   …
//   void Inflated(bool) { inflation_.status().ok() ? Serve() : Finish(inflation_.status()); }
//
// The way back is a gRPC alarm set to now, since the call's thread waits only for its queue. As
// with any tag of gRPC, the call may not be deleted until it is back.
//
// Lives on its queue's thread, except Run(), which an inflater's thread calls. Owned by a call and
// used again for each message.
class Inflation final : public InflationJob {
 public:
  // False for a plain message: there is nothing to do. Otherwise the tag `inflated` comes once.
  // Until then the caller leaves `message` alone and begins no other. `client` gives the client's
  // address to the Inflater, and is called only for a compressed message.
  bool Begin(InflaterThreads* threads, grpc::CompletionQueue* queue, grpc::ByteBuffer* message,
             QueueTag* inflated, absl::FunctionRef<std::string()> client) {
    if (!Inflater::IsCompressed(message)) return false;
    inflater_ = threads->inflater();
    client_ = client();
    message_ = message;
    queue_ = queue;
    inflated_ = inflated;
    is_dropped_.store(false, std::memory_order_relaxed);
    alarm_.emplace();
    threads->Enqueue(this);
    return true;
  }

  // Nobody awaits the message any more. The tag still comes, but the message may stay compressed,
  // and status() is then CANCELLED. Does nothing if no message is under way.
  void Drop() { is_dropped_.store(true, std::memory_order_relaxed); }

  // Once the tag is back: OK if the message is plain now, else the client's answer.
  const absl::Status& status() const { return status_; }

  void Run() override;

 private:
  // Written by Begin(), read by Run(); the threads' queue lies between.
  Inflater* inflater_ = nullptr;
  std::string client_;
  grpc::ByteBuffer* message_ = nullptr;
  grpc::CompletionQueue* queue_ = nullptr;
  QueueTag* inflated_ = nullptr;
  std::optional<grpc::Alarm> alarm_;
  absl::Status status_;
  std::atomic<bool> is_dropped_{false};
};

}  // namespace mpsd
