// InferTask: one HTTP inference request; the object is used again for the next one.
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

// Moves the bytes of a request with the path "…/infer", and as a GenerateTask of the short form.
// Its InferExchange does everything else, as for a gRPC call. It begins with the head: the deadline
// runs from there. Before a byte of the body is kept, the caller passes the gate and takes a place
// among the open calls.
//
//   Begin → Serve → (Resumed, the body is plain) → (Resumed, inputs are copied)
//     → SendLast or SendError, on any thread → Over
//
// Lives on its connection's thread, except what the exchange calls from any thread. Owned by the
// HttpDoor, which gets it back when it is over.
class InferTask : public HttpTask, public ExchangeTransport {
 public:
  // Called on its thread when the task is over and can be used again.
  using Back = std::function<void(InferTask*)>;

  // The context outlives the task.
  InferTask(const DoorContext* context, Back back,
            InferExchange::Answers answers = InferExchange::Answers::kOne);

  // Takes a request that has arrived. False if it is refused: then it was answered, and the task is
  // over. REQUIRES: the task is new or over.
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

  // The currently serving generation's spec, with the inputs that clients are told of; admission
  // looks again. NOT_FOUND, INVALID_ARGUMENT or UNAVAILABLE if there is none.
  absl::StatusOr<ModelSpec> ToldSpec(const InferMessage& message) const;

  // How the request is compressed.
  BodyCoding coding() const {
    thread_->Check();
    return coding_;
  }

  // Admits a request whose beginning ReadBeginning() reads. Returns where its rest goes; nothing if
  // it is admitted when it is whole.
  absl::Span<char> AdmitBeginning(const RequestBeginning& beginning);

  // Whether the caller may use the model, and the call may count for it. Tells nobody of a refusal.
  bool MayBeginWith(absl::string_view model);

  // Whether the request was compressed, and its plain bytes, which leave the inflation.
  bool is_inflated() const {
    thread_->Check();
    return is_inflated_;
  }
  std::string TakeInflated() {
    thread_->Check();
    return inflation_.TakeBytes();
  }

  // Keeps what was written for the next SendLast() or SendPart().
  void Keep(HttpReply&& reply) { reply_ = std::move(reply); }

  // RESOURCE_EXHAUSTED if a request may not have so many bytes of JSON.
  absl::Status CheckJson(size_t bytes);

  // Counts a large answer as unread. RESOURCE_EXHAUSTED if there are too many.
  absl::Status HoldRoom(HttpReply* reply) const;

  // ExchangeTransport's endings, which tasks of other forms call or override.
  void SendLast() override;
  void SendError(const absl::Status& status) override;

  // A place among the open calls for one more request of this call, as in a stream.
  // RESOURCE_EXHAUSTED beyond the bounds.
  absl::Status EnterBeside(absl::string_view model, OpenCalls::Place* place);

  // The part of ExchangeTransport that a task of several requests needs for each.
  absl::Status MayUse(absl::string_view model) override;
  // The same without telling anybody of a refusal.
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
  // Reads a whole body, and writes an answer, in the form of the request.
  virtual absl::Status ReadBody(std::string bytes, InferMessage* message, InferBody* body);
  virtual absl::Status WriteBody(const ReplyHead& head, const Answer& answer, const InferBody& body,
                                 HttpReply* reply);

  // The request was read, and is about to be admitted: others of the same call may begin. An error
  // ends the request.
  virtual absl::Status BeginOthers() { return absl::OkStatus(); }

  // The deadline that the client has set by a header. Called first of all for each request.
  virtual absl::StatusOr<CallDeadline> ReadDeadline(int64_t now_ns);

  // How the request is compressed, by its head. An error ends the request.
  virtual absl::StatusOr<BodyCoding> ReadCoding();

  // The compressed bytes of the request, whose body is whole; nothing of a plain request. They stay
  // where they are until DropCompressed(). An error ends the request.
  virtual absl::StatusOr<std::optional<absl::string_view>> FindCompressed(BodyCoding coding);

  // The reply for a status.
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

  HttpCall* call_ = nullptr;  // this and the next are constant from Begin() until Over()
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

  // Written by the thread that gives the answer, or before an ending on the task's thread.
  HttpReply reply_;
  int forced_code_ = 0;  // HTTP code, if it says more than the status

  InferExchange exchange_;
};

}  // namespace mpsd
