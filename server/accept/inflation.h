// Inflation: takes one compressed message to the inflater's threads, and back to its queue.
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

// Step 1 of a request whose client compresses. A call that has a message in its hands calls
// Begin(); where that is false it goes on at once, else it returns to its queue and goes on when
// the tag comes:
//
//   if (inflation_.Begin(inflaters, queue, &bytes, &inflated_, [&] { return rpc.peer(); })) return;
//   Serve();
//   …
//   void Inflated(bool) { inflation_.status().ok() ? Serve() : Finish(inflation_.status()); }
//
// The way back is an alarm of gRPC's, set to now: the queue is the only thing that the call's
// thread waits for. Until the tag is back the call may not be deleted, as with any tag of gRPC's.
//
// Lives on its queue's thread, except Run(), which one of the inflater's threads calls. Owned by a
// call and used again from message to message.
class Inflation final : public InflationJob {
 public:
  // False for a plain message: there is nothing to do. Otherwise the tag `inflated` comes, once,
  // and until then the caller leaves `message` alone and begins with no other. `client` gives the
  // client's address for the Inflater, and is called for a compressed message only.
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
  // and status() is then CANCELLED. Does nothing where no message is under way.
  void Drop() { is_dropped_.store(true, std::memory_order_relaxed); }

  // Once the tag is back: OK when the message is plain now, else what the client is told.
  const absl::Status& status() const { return status_; }

  void Run() override;

 private:
  // Written by Begin(), read by Run(); the queue of the threads lies between.
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
