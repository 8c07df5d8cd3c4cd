// QueueThread: the thread of one completion queue, with the calls that are armed on it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <thread>

#include "proto/base/thread_role.h"
#include "server/accept/completion_source.h"
#include "server/accept/generic_call.h"
#include "server/accept/infer_call.h"
#include "server/accept/stream_call.h"

namespace mpsd {

// Thread-compatible: main starts and ends it. Start() once, after the server has started; Join()
// after the server and the queue were shut down. While there is work the thread alternates between
// a few of the queue's events and the workers' completions; before it sleeps in the queue it parks,
// and whoever finds completions then finishes the calls itself.
class QueueThread {
 public:
  QueueThread(std::unique_ptr<grpc::ServerCompletionQueue> queue, InferCallContext infer,
              GenericCallContext generic, CompletionSource* completions);

  void Start(int index);

  // No further tags come once what is there was given back.
  void Shutdown() { queue_->Shutdown(); }
  void Join() { thread_.join(); }

 private:
  void Main();

  ThreadRole role_;  // of the calls that are armed here
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  InferCallContext infer_;
  GenericCallContext generic_;
  CompletionSource* const completions_;
  std::thread thread_;
};

}  // namespace mpsd
