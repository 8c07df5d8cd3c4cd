// InferCall: one armed ModelInfer call, used again for call after call.
#pragma once

#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>

#include "server/accept/device_load.h"
#include "server/accept/infer_call_context.h"
#include "server/accept/inflation.h"
#include "server/accept/queue_tag.h"
#include "server/regions/request_regions.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/wire/request_wire.h"
#include "server/wire/trace_context.h"

namespace mpsd {

// Lives on its queue's thread, but for Send(), Fail() and Stored(); deleted when the server shuts
// down and its tags are back.
//
// The life of a call: Arm() starts waiting. Arrived(true) means that a call started, and promises
// two more tags: Finished, which follows our own Finish, and Done, which says that the call is over
// or cancelled. They come in either order. Arrived(false) means that the server shuts down; then no
// Done ever comes. Send() or Fail() is called once, from any thread. A call whose message is
// compressed goes on with Inflated, one with inputs in devices' memory with Loaded, before which
// nothing is sent; one with outputs there ends with Stored(), on the copier's thread.
class InferCall final : public ReplySink {
 public:
  explicit InferCall(const InferCallContext* context);
  ~InferCall() override { context_->live_calls->fetch_sub(1, std::memory_order_release); }

  void Arm();

  void Send(const Answer& answer) override;
  void Fail(const absl::Status& status) override;

 private:
  void Arrived(bool ok);
  void Finished(bool ok);
  void Done(bool ok);
  void Inflated(bool ok);
  void Loaded(bool ok);
  void TagBack();
  void Serve(const absl::Status& arrived);
  absl::Status LoadRegions();
  absl::Status CheckNotCancelled() const;
  void Admit(const absl::Status& status);
  void SendAsWished(Answer answer);
  void SendAll(const Answer& answer);
  void SendWhenStored(const Answer& answer);
  void Stored(const grpc::ByteBuffer& bytes);
  absl::StatusOr<grpc::ByteBuffer> Write(const Answer& answer);
  void TellEnded(absl::StatusCode code);

  // One call's worth of gRPC objects, which cannot be used twice.
  struct Rpc {
    Rpc() : writer(&server) {}

    grpc::ServerContext server;
    grpc::ByteBuffer bytes;
    grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer;
  };

  const InferCallContext* const context_;
  MemberTag<InferCall, &InferCall::Arrived> arrived_{this};
  MemberTag<InferCall, &InferCall::Finished> finished_{this};
  MemberTag<InferCall, &InferCall::Done> done_{this};
  MemberTag<InferCall, &InferCall::Inflated> inflated_{this};
  MemberTag<InferCall, &InferCall::Loaded> loaded_{this};

  std::optional<Rpc> rpc_;
  RequestWire wire_;
  Grant grant_;
  Inflation inflation_;
  RequestRegions regions_;
  DeviceLoad device_load_;
  TraceContext trace_;
  bool traced_ = false;
  InferMessage message_;
  Request request_;
  std::string scratch_;
  int tags_out_ = 0;
};

}  // namespace mpsd
