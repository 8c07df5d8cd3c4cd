// GrpcInferTask: one ModelInfer call of gRPC.
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

// Thread-compatible: the task passes it to the threads, and its call is over only after that. Owned
// by a task and used again.
class AnswerDeflation {
 public:
  explicit AnswerDeflation(TaskThreads* threads) : threads_(threads) {}

  // Compresses the reply, then sends it. Thread-safe. REQUIRES: a GrpcReply() without splices; gzip
  // or deflate. The threads outlive this.
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

// Call and reply may have the form of gRPC-Web. A compressed message gets a compressed answer, if
// the client reads that. Tensors stay in the body until the workers' memory has them; a large one
// goes straight there, if its beginning can be admitted.
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

  GrpcKind kind_ = GrpcKind::kOwn;  // constant after the deadline was read
  std::string body_;                // as it came, or the plain message
  absl::string_view message_;
  RequestWire wire_;
  BodyCoding answer_coding_ = BodyCoding::kPlain;  // constant after the request was admitted
  AnswerDeflation deflation_;
};

}  // namespace mpsd
