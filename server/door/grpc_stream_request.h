// GrpcStreamRequest: one request of a stream of gRPC.
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

// With its prefix; empty: none. Moved, not copied.
struct GrpcAnswer {
  std::string bytes;
  std::shared_ptr<void> held;  // until the client has taken the message
};

// The stream as its requests see it. Thread-safe.
class GrpcStreamAnswers {
 public:
  virtual ~GrpcStreamAnswers() = default;

  // The last answer, and a message that none follows. Called once. On return the stream may have
  // cleared the request, or be gone.
  virtual void Answered(GrpcStreamRequest* request, GrpcAnswer response,
                        GrpcAnswer final_response) = 0;

  // One of several answers; InferExchange::Continue() follows the write. The request may have ended
  // on return.
  virtual void AnsweredInPart(GrpcStreamRequest* request, GrpcAnswer response) = 0;

  // The request has freed bytes of its message. Called on the stream's thread.
  virtual void Freed(size_t bytes) = 0;

  // Has the request's Resumed() called soon.
  virtual void Resume(GrpcStreamRequest* request) = 0;
};

// Owned by the stream. Other threads read the context and the peer alone.
struct GrpcStreamSource {
  const DoorContext* context = nullptr;
  HttpCall* call = nullptr;
  BodyCoding coding = BodyCoding::kPlain;
  Grant* grant = nullptr;
  const OpenCalls::Place* place = nullptr;
  GrpcStreamAnswers* answers = nullptr;
};

// Moves one request's bytes; its InferExchange does the rest. Taken, begun, answered, cleared, and
// used again. Owned by its stream. Lives on the stream's thread, except what the exchange calls
// from any thread.
class GrpcStreamRequest final : public ExchangeTransport {
 public:
  explicit GrpcStreamRequest(const GrpcStreamSource& source);

  InferExchange& exchange() { return exchange_; }

  // True if the message is compressed: `inflated` is called later, on this thread. REQUIRES: the
  // request is new or cleared.
  bool Take(GrpcPiece message, std::function<void()> inflated);

  void DropInflation() { inflation_.Drop(); }

  // OK unless the message cannot be inflated.
  const absl::Status& arrived() const { return arrived_; }

  void Resumed();

  // REQUIRES: the request was answered.
  void Clear();

  // The stream's, from the answer on, guarded by its mutex. A request with several answers has left
  // its line.
  GrpcAnswer response;
  GrpcAnswer final_response;
  OpenCalls::Place place;  // until the answer is written
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
  std::function<void()> inflated_;
  absl::Status arrived_;
  GrpcPiece message_;
  size_t held_bytes_ = 0;  // held bytes of the call's body
  RequestWire wire_;

  GrpcAnswer written_;  // by the answering thread

  InferExchange exchange_;
};

}  // namespace mpsd
