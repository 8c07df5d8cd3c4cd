// GrpcInferTask: one ModelInfer call of gRPC over HTTP/2.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "proto/base/task_threads.h"
#include "server/bodies/grpc/request_wire.h"
#include "server/door/grpc_form.h"
#include "server/door/infer_task.h"
#include "server/door/route/body_coding.h"
#include "server/http/http_call.h"
#include "server/http/http_reply.h"

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

// An InferTask whose body is a ModelInferRequest in gRPC's form, and whose reply a
// ModelInferResponse. Both may have the form of gRPC-Web. The answer to a compressed message is
// compressed, where the client reads that. The tensors stay in the body until the workers' memory
// has them. A large one is admitted by its beginning where that is possible, and the rest goes
// straight there.
//
// Lives on its connection's thread, except what the exchange calls from any thread. Owned by the
// HttpDoor, as an InferTask.
class GrpcInferTask final : public InferTask {
 public:
  GrpcInferTask(const DoorContext* context, Back back)
      : InferTask(context, std::move(back)), deflation_(context->inflaters) {}

  // HttpTask.
  size_t BodyBytes(absl::string_view first) const override { return GrpcBodyBytes(first); }
  absl::Span<char> TakeBeginning(absl::string_view first, size_t bytes) override;
  void Over() override;

 private:
  absl::StatusOr<CallDeadline> ReadDeadline(int64_t now_ns) override;
  absl::StatusOr<BodyCoding> ReadCoding() override;
  absl::StatusOr<std::optional<absl::string_view>> FindCompressed(BodyCoding coding) override;
  void DropCompressed() override;
  HttpReply ErrorOf(const absl::Status& status) const override;

  // ExchangeTransport.
  bool ReadBeginning(const RequestBeginning& beginning, InferMessage* message,
                     TensorForms* forms) override;
  absl::Status Read(InferMessage* message, TensorForms* forms) override;
  absl::Status Write(const Answer& answer, bool is_last) override;
  void DropPayloads() override;
  void SendLast() override;

  GrpcKind kind_ = GrpcKind::kOwn;  // constant once the deadline was read
  std::string body_;           // as it came; in its place the plain message, if that was compressed
  absl::string_view message_;  // in `body_`
  RequestWire wire_;           // views of `message_`
  BodyCoding answer_coding_ = BodyCoding::kPlain;  // constant once the request was admitted
  AnswerDeflation deflation_;
};

}  // namespace mpsd
