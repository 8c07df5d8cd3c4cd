// Inflation: takes one compressed message to the inflater's threads, and back to its queue.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <optional>

#include "absl/status/status.h"
#include "server/accept/queue_tag.h"
#include "server/inflate/inflater.h"
#include "server/inflate/inflater_threads.h"

namespace mpsd {

// Lives on its queue's thread, except Run(), which one of the inflater's threads calls. Owned by a
// call and used again from message to message.
class Inflation final : public InflationJob {
 public:
  // False for a plain message: there is nothing to do. Otherwise the tag `inflated` comes, once,
  // and until then the caller leaves `message` alone and begins with no other.
  bool Begin(InflaterThreads* threads, grpc::CompletionQueue* queue, grpc::ByteBuffer* message,
             QueueTag* inflated) {
    if (!Inflater::IsCompressed(message)) return false;
    message_ = message;
    queue_ = queue;
    inflated_ = inflated;
    is_dropped_.store(false, std::memory_order_relaxed);
    alarm_.emplace();
    threads->Enqueue(this);
    return true;
  }

  // Nobody awaits the message any more. The tag still comes, but the message may stay compressed.
  void Drop() { is_dropped_.store(true, std::memory_order_relaxed); }

  // Once the tag is back: OK when the message is plain now, else what the client is told.
  const absl::Status& status() const { return status_; }

  void Run(Inflater* inflater) override;

 private:
  grpc::ByteBuffer* message_ = nullptr;
  grpc::CompletionQueue* queue_ = nullptr;
  QueueTag* inflated_ = nullptr;
  std::optional<grpc::Alarm> alarm_;
  absl::Status status_;
  std::atomic<bool> is_dropped_{false};
};

}  // namespace mpsd
