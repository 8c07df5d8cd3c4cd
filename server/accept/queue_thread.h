// QueueThread: the thread of one completion queue, with the calls that are armed on it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <thread>

#include "proto/base/thread_role.h"
#include "server/accept/completion_source.h"
#include "server/accept/generic_call.h"
#include "server/accept/infer_calls.h"
#include "server/accept/stream_call.h"

namespace mpsd {

// Owned by the GrpcServer, whose thread calls all functions: Start() once the gRPC server runs,
// Shutdown() once all calls are gone, then Join(). Thread-compatible.
//
// While there is work, the thread alternates between a few events of the queue and the workers'
// completions. Before it sleeps in the queue it parks, and completions that come then are found by
// another thread. While a ModelInfer call is open it wakes now and then, to cancel those whose
// client does not take the answer. The calls that are armed here live on this thread: it has their
// ThreadRole.
class QueueThread {
 public:
  QueueThread(std::unique_ptr<grpc::ServerCompletionQueue> queue, InferCallContext infer,
              GenericCallContext generic, CompletionSource* completions);

  // Arms the calls and starts the thread, `grpc-INDEX`.
  void Start(int index);

  // The queue takes no further operation. The thread ends when all tags are back. REQUIRES: no call
  // is left.
  void Shutdown();
  void Join() { thread_.join(); }

 private:
  void Main();
  grpc::CompletionQueue::NextStatus Sleep(void** tag, bool* ok);

  ThreadRole role_;  // of the calls that are armed here
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  InferCallContext infer_;
  InferCalls infer_calls_{&infer_};
  GenericCallContext generic_;
  CompletionSource* const completions_;
  std::thread thread_;
};

}  // namespace mpsd
