// Inflation: the way of one compressed message to the inflater's threads, and back to its queue.
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

// Lives on its queue's thread, but for Run(). Belongs to a call, and is used again.
class Inflation final : public InflationJob {
 public:
  // False for a plain message: there is nothing to do. Otherwise `inflated` will come, once, and
  // until then `message` is not the caller's.
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

  // Nobody waits for it any more: `inflated` comes all the same, but sooner.
  void Drop() { is_dropped_.store(true, std::memory_order_relaxed); }

  // Once `inflated` is back: whether the message is plain now, or what its client is to be told.
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
