// InferCall: one armed ModelInfer call; the object is used again for the next one.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <optional>

#include "absl/base/thread_annotations.h"
#include "proto/base/thread_role.h"
#include "server/accept/infer_call_context.h"
#include "server/accept/inflation.h"
#include "server/accept/queue_tag.h"
#include "server/accept/reply_writer.h"
#include "server/exchange/infer_exchange.h"
#include "server/listen/connection_call.h"
#include "server/wire/call_deadline.h"
#include "server/wire/request_wire.h"
#include "server/wire/trace_context.h"

namespace mpsd {

class InferCalls;

// Moves the bytes and tags of a unary call; its InferExchange does everything else. Lives on its
// queue's thread, except what the exchange calls from any thread. Owned by the queue's InferCalls.
//
// Invariants:
//   1. Arrived(true) promises exactly two more tags, Finished and Done, in either order; the call
//      is over when both are back. Done comes when the call is over or cancelled. Finished follows
//      the one ending of the exchange. Arrived(false) means that the server shuts down, and
//      promises no further tag.
//   2. A compressed message is followed by Inflated, and inputs on devices by Resumed, each before
//      the ending.
//   3. Done comes before the ending only if the call was cancelled.
class InferCall final : public ExchangeTransport {
 public:
  InferCall(const InferCallContext* context, InferCalls* calls);

  // REQUIRES: no tag is out.
  ~InferCall() override;

  void Arm();

  // Ends the open call, whether its client has its answer or not.
  void Cancel();

 private:
  // The tags.
  void Arrived(bool ok);
  void Inflated(bool ok);
  void Resumed(bool ok);
  void Finished(bool ok);
  void Done(bool ok);

  // ExchangeTransport.
  absl::Status Read(InferMessage* message, TensorForms* forms) override;
  absl::Status MayUse(absl::string_view model) override;
  uint32_t Tenant() override {
    thread_->Check();
    return grant_.tenant;
  }
  uint64_t RulesVersion() override {
    thread_->Check();
    return grant_.version;
  }
  ConnectionId Connection() override { return ConnectionOf(&rpc_->server); }
  void DropPayloads() override;
  void Resume() override;
  absl::Status Write(const Answer& answer, bool is_last) override;
  void SendLast() override;
  void SendError(const absl::Status& status) override;

  void Begin(int64_t now_ns, const CallDeadline& deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void CountUnadmitted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void TagBack() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  // gRPC objects of one call, which cannot be used twice.
  struct Rpc {
    Rpc() : writer(&server) {}

    grpc::ServerContext server;
    grpc::ByteBuffer bytes;
    grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer;
  };

  const InferCallContext* const context_;
  InferCalls* const calls_;
  const ThreadRole* const thread_;
  MemberTag<InferCall, &InferCall::Arrived> arrived_{this};
  MemberTag<InferCall, &InferCall::Inflated> inflated_{this};
  MemberTag<InferCall, &InferCall::Resumed> resumed_{this};
  MemberTag<InferCall, &InferCall::Finished> finished_{this};
  MemberTag<InferCall, &InferCall::Done> done_{this};

  int tags_out_ ABSL_GUARDED_BY(thread_) = 0;  // how many of Finished and Done
  ConnectionCall connection_ ABSL_GUARDED_BY(thread_);
  OpenCalls::Place place_ ABSL_GUARDED_BY(thread_);
  Inflation inflation_ ABSL_GUARDED_BY(thread_);
  Grant grant_ ABSL_GUARDED_BY(thread_);
  RequestWire wire_ ABSL_GUARDED_BY(thread_);

  // Made when the call is armed; the ending, on any thread, finishes it.
  std::optional<Rpc> rpc_;
  TraceContext trace_;  // constant until the call is over
  std::optional<grpc::Alarm> alarm_;

  // Written by the answering thread.
  ReplyWriter writer_;
  grpc::ByteBuffer response_;

  InferExchange exchange_;
};

}  // namespace mpsd
