// InferTask: one HTTP inference request; used again for the next one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "proto/base/thread_role.h"
#include "server/bodies/grpc/call_deadline.h"
#include "server/bodies/grpc/reply_head.h"
#include "server/bodies/grpc/trace_context.h"
#include "server/bodies/json/infer_body.h"
#include "server/door/door_context.h"
#include "server/door/message_inflation.h"
#include "server/door/route/body_coding.h"
#include "server/door/route/route.h"
#include "server/exchange/infer_exchange.h"
#include "server/http/http_call.h"

namespace mpsd {

// Moves the bytes of a request; its InferExchange does everything else. It begins with the head,
// when the deadline starts to run. Before a byte of the body is kept, the caller passes the gate
// and takes a place among the open calls.
//
//   Begin → Serve → (Resumed, the body is plain) → (Resumed, inputs are copied)
//     → SendLast or SendError, on any thread → Over
//
// Lives on its connection's thread, except what the exchange calls from any thread. Owned by the
// HttpDoor.
class InferTask : public HttpTask, public ExchangeTransport {
 public:
  // Called on the task's thread when the task can be used again.
  using Back = std::function<void(InferTask*)>;

  // The context outlives the task.
  InferTask(const DoorContext* context, Back back,
            InferExchange::Answers answers = InferExchange::Answers::kOne);

  // False if the request is refused: then it was answered. REQUIRES: the task is new or over.
  bool Begin(HttpCall* call, Route route);

  // HttpTask.
  absl::Span<char> TakeBeginning(absl::string_view first, size_t bytes) override;
  void Serve(BodyEnd body) override;
  void Resumed() override;
  void ClientLeft() override;
  void Over() override;

 protected:
  const DoorContext& context() const { return *context_; }
  const Route& route() const { return route_; }
  HttpCall* call() const { return call_; }
  InferExchange* exchange() { return &exchange_; }
  const Arrival& arrival() const { return arrival_; }
  const std::string& request_id() const { return request_id_; }
  int forced_code() const { return forced_code_; }

  // The latest written reply.
  HttpReply TakeReply() { return std::exchange(reply_, HttpReply()); }
  bool has_echoes() const { return !trace_.text.empty() || !request_id_.empty(); }
  void AddEchoes(HttpReply* reply) const;

  // The serving generation's spec as clients see it; admission looks again. NOT_FOUND,
  // INVALID_ARGUMENT or UNAVAILABLE if there is none.
  absl::StatusOr<ModelSpec> ToldSpec(const InferMessage& message) const;

  BodyCoding coding() const {
    thread_->Check();
    return coding_;
  }

  // Admits a request by its beginning. Returns where the rest goes; nothing if the request is
  // admitted when it is whole.
  absl::Span<char> AdmitBeginning(const RequestBeginning& beginning);

  // Whether the caller may use the model, and the call may count for it. Tells nobody of a refusal.
  bool MayBeginWith(absl::string_view model);

  // Plain bytes leave the inflation by TakeInflated().
  bool is_inflated() const {
    thread_->Check();
    return is_inflated_;
  }
  std::string TakeInflated() {
    thread_->Check();
    return inflation_.TakeBytes();
  }

  // Keeps a reply for the next SendLast() or SendPart().
  void Keep(HttpReply&& reply) { reply_ = std::move(reply); }

  // RESOURCE_EXHAUSTED beyond limits.http_json.
  absl::Status CheckJson(size_t bytes);

  // Counts a large answer as unread. RESOURCE_EXHAUSTED if there are too many.
  absl::Status HoldRoom(HttpReply* reply) const;

  // Tasks of other forms call or override these.
  void SendLast() override;
  void SendError(const absl::Status& status) override;

  // A place for one more request of this call. RESOURCE_EXHAUSTED beyond the bounds.
  absl::Status EnterBeside(absl::string_view model, OpenCalls::Place* place);

  // Parts of ExchangeTransport for each of several requests.
  absl::Status MayUse(absl::string_view model) override;
  // Tells nobody of a refusal.
  bool Sees(absl::string_view model) const;
  uint32_t Tenant() override {
    thread_->Check();
    return grant_.tenant;
  }
  uint64_t RulesVersion() override {
    thread_->Check();
    return grant_.version;
  }
  ConnectionId Connection() override { return call_->connection(); }
  void DropPayloads() override;
  // The compressed bytes were read.
  virtual void DropCompressed() { call_->DropBody(); }
  void DropFields() override { body_.DropFields(); }

 private:
  virtual absl::Status ReadBody(std::string bytes, InferMessage* message, InferBody* body);
  virtual absl::Status WriteBody(const ReplyHead& head, const Answer& answer, const InferBody& body,
                                 HttpReply* reply);

  // The request was read: others of the same call may begin. An error ends the request.
  virtual absl::Status BeginOthers() { return absl::OkStatus(); }

  // The deadline by the client's header. Called first.
  virtual absl::StatusOr<CallDeadline> ReadDeadline(int64_t now_ns);

  // By the head. An error ends the request.
  virtual absl::StatusOr<BodyCoding> ReadCoding();

  // The compressed bytes in the whole body, until DropCompressed(); nothing if plain. An error ends
  // the request.
  virtual absl::StatusOr<std::optional<absl::string_view>> FindCompressed(BodyCoding coding);

  virtual HttpReply ErrorOf(const absl::Status& status) const;

  // ExchangeTransport.
  bool ReadBeginning(const RequestBeginning& beginning, InferMessage* message,
                     TensorForms* forms) override;
  absl::Status Read(InferMessage* message, TensorForms* forms) override;
  void Resume() override { call_->Resume(); }
  absl::Status Write(const Answer& answer, bool is_last) override;

  absl::Status Enter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void RestIsThere(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Inflated() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Admit(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void CountUnadmitted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  const DoorContext* const context_;
  const ThreadRole* const thread_;
  const Back back_;

  HttpCall* call_ = nullptr;  // constant, like the next, from Begin() to Over()
  Route route_;
  Arrival arrival_;
  TraceContext trace_;
  std::string request_id_;  // from X-Request-Id, echoed

  OpenCalls::Place place_ ABSL_GUARDED_BY(thread_);
  Grant grant_ ABSL_GUARDED_BY(thread_);
  BodyCoding coding_ ABSL_GUARDED_BY(thread_) = BodyCoding::kPlain;
  bool is_inflated_ ABSL_GUARDED_BY(thread_) = false;
  MessageInflation inflation_ ABSL_GUARDED_BY(thread_);
  InferBody body_;

  // Written by the answering thread, or before an ending on the task's thread.
  HttpReply reply_;
  int forced_code_ = 0;  // an HTTP code that says more than the status

  InferExchange exchange_;
};

}  // namespace mpsd
