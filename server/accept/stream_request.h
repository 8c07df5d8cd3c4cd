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

  // The request has ended: the last message of its answer, and the message that says that none
  // follows. Either may be empty. Called once a request. When this returns the stream may have
  // cleared the request, or be gone.
  virtual void Answered(StreamRequest* request, grpc::ByteBuffer response,
                        grpc::ByteBuffer final_response) = 0;

  // One of several answers. The stream calls InferExchange::Continue() when it is written. When
  // this returns the request may have ended.
  virtual void AnsweredInPart(StreamRequest* request, grpc::ByteBuffer response) = 0;
};

// What the requests of one stream share. Owned by the stream; the requests read it on the stream's
// thread, and `rpc`'s peer on any.
struct StreamSource {
  const InferCallContext* context = nullptr;
  grpc::ServerContext* rpc = nullptr;
  const grpc::ByteBuffer* bytes = nullptr;  // of the request that was read last
  Grant* grant = nullptr;
  const OpenCalls::Place* place = nullptr;  // of the stream
  StreamAnswers* answers = nullptr;
};

// Lives on its stream's thread, except what the exchange calls from any thread. Owned by its stream
// and used again: begun, answered, cleared. Moves the bytes of one request; its InferExchange does
// everything else. Knows of its stream only what stands above.
class StreamRequest final : public ExchangeTransport {
 public:
  explicit StreamRequest(const StreamSource& source);

  InferExchange& exchange() { return exchange_; }

  // Makes the request fit for the next one. REQUIRES: it was answered.
  void Clear();

  // The stream's own from the answer on, guarded by its mutex: the messages that are left to be
  // written, the request's place, whether the request has left its line since it has several
  // answers, and AnswerLines' fields.
  grpc::ByteBuffer response;
  grpc::ByteBuffer final_response;
  OpenCalls::Place place;  // of one that was read, until its answer is written
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

  // Written by the thread that gives the answer.
  ReplyWriter writer_;
  grpc::ByteBuffer written_;

  InferExchange exchange_;
};

}  // namespace mpsd
