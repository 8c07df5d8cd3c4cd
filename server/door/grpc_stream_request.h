// GrpcStreamRequest: one request of a stream of gRPC, from its message to its answers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/base/thread_role.h"
#include "server/bodies/grpc/request_wire.h"
#include "server/door/door_context.h"
#include "server/door/grpc_messages.h"
#include "server/door/message_inflation.h"
#include "server/exchange/infer_exchange.h"
#include "server/http/http_call.h"

namespace mpsd {

class GrpcStreamRequest;

// A message of an answer with its prefix; empty: none. Moved, not copied.
struct GrpcAnswer {
  std::string bytes;
  std::shared_ptr<void> held;  // until the client has taken the message
};

// The stream as its requests see it. Implemented by GrpcStreamTask. Thread-safe.
class GrpcStreamAnswers {
 public:
  virtual ~GrpcStreamAnswers() = default;

  // The request has ended: the last message of its answer, and a message that none follows. Called
  // once a request. When this returns the stream may have cleared the request, or be gone.
  virtual void Answered(GrpcStreamRequest* request, GrpcAnswer response,
                        GrpcAnswer final_response) = 0;

  // One of several answers. The stream calls InferExchange::Continue() once it is written. When
  // this returns the request may have ended.
  virtual void AnsweredInPart(GrpcStreamRequest* request, GrpcAnswer response) = 0;

  // The request has freed so many bytes of its message. On the stream's thread.
  virtual void Freed(size_t bytes) = 0;

  // Has the request's Resumed() called on the stream's thread, soon.
  virtual void Resume(GrpcStreamRequest* request) = 0;
};

// Shared by the requests of one stream, which owns it. They read it on the stream's thread, and the
// context and the call's peer on any.
struct GrpcStreamSource {
  const DoorContext* context = nullptr;
  HttpCall* call = nullptr;
  BodyCoding coding = BodyCoding::kPlain;
  Grant* grant = nullptr;
  const OpenCalls::Place* place = nullptr;  // the stream's
  GrpcStreamAnswers* answers = nullptr;
};

// Lives on its stream's thread, except what the exchange calls from any thread. Owned by its stream
// and used again: taken, begun, answered, cleared. Moves the bytes of one request; its
// InferExchange does everything else.
class GrpcStreamRequest final : public ExchangeTransport {
 public:
  explicit GrpcStreamRequest(const GrpcStreamSource& source);

  InferExchange& exchange() { return exchange_; }

  // Takes the message of the next request. True if it is compressed: then it is inflated, and
  // `inflated` called on the stream's thread. REQUIRES: the request is new or cleared.
  bool Take(GrpcPiece message, std::function<void()> inflated);

  // Nobody awaits the message that is inflated.
  void DropInflation() { inflation_.Drop(); }

  // Whether the message can be read: OK, or why it cannot be inflated.
  const absl::Status& arrived() const { return arrived_; }

  // The stream's Resumed() is this request's.
  void Resumed();

  // Prepares for the next request. REQUIRES: this one was answered.
  void Clear();

  // From the answer on these belong to the stream, guarded by its mutex. They are the messages
  // still to be written, the request's place, and AnswerLines' fields. A request with several
  // answers has left its line.
  GrpcAnswer response;
  GrpcAnswer final_response;
  OpenCalls::Place place;  // from reading until the answer is written
  bool apart = false;
  bool answered = false;
  size_t line = 0;
  GrpcStreamRequest* next = nullptr;

 private:
  // ExchangeTransport.
  absl::Status Read(InferMessage* message, TensorForms* forms) override;
  absl::Status MayUse(absl::string_view model) override;
  uint32_t Tenant() override { return source_.grant->tenant; }
  uint64_t RulesVersion() override { return source_.grant->version; }
  ConnectionId Connection() override { return source_.call->connection(); }
  void DropPayloads() override;
  void Resume() override { source_.answers->Resume(this); }
  absl::Status Write(const Answer& answer, bool is_last) override;
  void SendPart() override;
  void SendLast() override;
  void SendNoMore() override;
  void SendError(const absl::Status& status) override;

  void GiveBack();
  absl::Status Hold(GrpcAnswer* answer) const;
  GrpcAnswer EmptyFinal();

  const GrpcStreamSource source_;
  const ThreadRole* const thread_;
  MessageInflation inflation_;
  std::function<void()> inflated_;  // while the message is inflated
  absl::Status arrived_;
  GrpcPiece message_;
  size_t held_bytes_ = 0;  // bytes of the call's body that count as held
  RequestWire wire_;       // views of `message_`

  GrpcAnswer written_;  // by the answering thread

  InferExchange exchange_;
};

}  // namespace mpsd
