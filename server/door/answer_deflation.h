// AnswerDeflation: has one answer of gRPC compressed on the inflater's threads, and sends it.
#pragma once

#include <utility>

#include "proto/base/task_threads.h"
#include "server/http/http_call.h"
#include "server/http/http_reply.h"
#include "server/route/body_coding.h"

namespace mpsd {

// The last step of a call whose answer is compressed. Thread-compatible: the task passes it to the
// threads, and its call is over only after that. Owned by a task and used again for each answer.
class AnswerDeflation {
 public:
  // The threads outlive it.
  explicit AnswerDeflation(TaskThreads* threads) : threads_(threads) {}

  // Has the reply compressed, and then gives it to the call. On any thread. REQUIRES: the reply is
  // one of GrpcReply() without splices; gzip or deflate.
  void Send(BodyCoding coding, HttpReply reply, HttpCall* call) {
    coding_ = coding;
    reply_ = std::move(reply);
    call_ = call;
    threads_->Enqueue(0, [this] { Run(); });
  }

 private:
  void Run();

  TaskThreads* const threads_;
  BodyCoding coding_ = BodyCoding::kPlain;
  HttpReply reply_;
  HttpCall* call_ = nullptr;
};

}  // namespace mpsd
