// StreamRequest: one request of a stream, from its bytes to the bytes of its answers.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/base/thread_role.h"
#include "server/accept/infer_call_context.h"
#include "server/accept/queue_tag.h"
#include "server/accept/reply_writer.h"
#include "server/exchange/infer_exchange.h"
#include "server/wire/request_wire.h"

namespace mpsd {

class StreamRequest;

// The stream as its requests see it. Implemented by StreamCall. Thread-safe.
class StreamAnswers {
 public:
  virtual ~StreamAnswers() = default;

  // The request has ended: the last message of its answer, and a message that none follows. Either
  // may be empty. Called once a request. When this returns the stream may have cleared the request,
  // or be gone.
  virtual void Answered(StreamRequest* request, grpc::ByteBuffer response,
                        grpc::ByteBuffer final_response) = 0;

  // One of several answers. The stream calls InferExchange::Continue() once it is written. When
  // this returns the request may have ended.
  virtual void AnsweredInPart(StreamRequest* request, grpc::ByteBuffer response) = 0;
};

// Shared by the requests of one stream, which owns it. They read it on the stream's thread, and the
// peer of `rpc` on any.
struct StreamSource {
  const InferCallContext* context = nullptr;
  grpc::ServerContext* rpc = nullptr;
  const grpc::ByteBuffer* bytes = nullptr;  // bytes of the latest request
  Grant* grant = nullptr;
  const OpenCalls::Place* place = nullptr;  // the stream's
  StreamAnswers* answers = nullptr;
};

// Lives on its stream's thread, except what the exchange calls from any thread. Owned by its stream
// and used again: begun, answered, cleared. Moves the bytes of one request; its InferExchange does
// everything else. Knows its stream only as declared above.
class StreamRequest final : public ExchangeTransport {
 public:
  explicit StreamRequest(const StreamSource& source);

  InferExchange& exchange() { return exchange_; }

  // Prepares for the next request. REQUIRES: this one was answered.
  void Clear();

  // From the answer on these belong to the stream, guarded by its mutex. They are the messages
  // still to be written, the request's place, and AnswerLines' fields. A request with several
  // answers has left its line.
  grpc::ByteBuffer response;
  grpc::ByteBuffer final_response;
  OpenCalls::Place place;  // from reading until the answer is written
  bool apart = false;
  bool answered = false;
  size_t line = 0;
  StreamRequest* next = nullptr;

 private:
  void Resumed(bool ok);

  // ExchangeTransport.
  absl::Status Read(InferMessage* message, TensorForms* forms) override;
  absl::Status MayUse(absl::string_view model) override;
  uint32_t Tenant() override { return source_.grant->tenant; }
  uint64_t RulesVersion() override { return source_.grant->version; }
  ConnectionId Connection() override { return ConnectionOf(source_.rpc); }
  void DropPayloads() override;
  void Resume() override;
  absl::Status Write(const Answer& answer, bool is_last) override;
  void SendPart() override;
  void SendLast() override;
  void SendNoMore() override;
  void SendError(const absl::Status& status) override;

  grpc::ByteBuffer TakeWritten();
  grpc::ByteBuffer EmptyFinal();

  const StreamSource source_;
  const ThreadRole* const thread_;
  MemberTag<StreamRequest, &StreamRequest::Resumed> resumed_{this};
  std::optional<grpc::Alarm> alarm_;
  RequestWire wire_ ABSL_GUARDED_BY(thread_);

  // Written by the answering thread.
  ReplyWriter writer_;
  grpc::ByteBuffer written_;

  InferExchange exchange_;
};

}  // namespace mpsd
