// QueueThread: the thread of one completion queue, with the calls armed on it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <thread>

#include "proto/base/thread_role.h"
#include "server/accept/generic_call.h"
#include "server/accept/infer_calls.h"
#include "server/accept/stream_call.h"
#include "server/accept/watchers.h"
#include "server/entry/completion_source.h"

namespace mpsd {

// Owned by the GrpcServer, whose thread calls all functions: Start() once the gRPC server runs,
// Shutdown() once all calls are gone, then Join(). Thread-compatible.
//
// The front end's main loop, `grpc-N`. While there is work, the thread alternates between a few
// events of the queue and the workers' completions: steps 1 to 7 of some requests, steps 11 to 13
// of others. Before it sleeps in the queue it parks, and another thread finds later completions.
// The calls armed here live on this thread: it has their ThreadRole.
//
// It sleeps only in the queue. Work that would make it wait runs on another thread and comes back
// as a tag: inflating, copies of device memory, deferred answers.
//
// A call that arrives arms the next one, so that no open call keeps another from arriving;
// OpenCalls bounds the open ones. While a ModelInfer call or a stream is open the thread wakes now
// and then, to cancel those whose client does not take the answer. The queue takes tags until the
// last call is gone.
class QueueThread {
 public:
  // Fills the queue and the thread's role into its copies of the contexts. `completions` outlives
  // the thread.
  QueueThread(std::unique_ptr<grpc::ServerCompletionQueue> queue, InferCallContext infer,
              GenericCallContext generic, CompletionSource* completions);

  // Arms the calls and starts the thread `grpc-INDEX`.
  void Start(int index);

  // The queue takes no further operation. The thread ends when all tags are back. REQUIRES: no call
  // is left.
  void Shutdown();

  // Blocks until the thread has ended. REQUIRES: Start() and Shutdown() were called.
  void Join() { thread_.join(); }

 private:
  void Main();
  grpc::CompletionQueue::NextStatus Sleep(void** tag, bool* ok);

  ThreadRole role_;  // role of the calls armed here
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  InferCallContext infer_;
  Watchers watchers_;
  InferCalls infer_calls_{&infer_};
  GenericCallContext generic_;
  CompletionSource* const completions_;
  std::thread thread_;
};

}  // namespace mpsd
