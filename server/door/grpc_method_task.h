// GrpcMethodTask: one unary call of gRPC or gRPC-Web that does not infer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "server/door/door_context.h"
#include "server/door/grpc_form.h"
#include "server/door/message_inflation.h"
#include "server/door/route/body_coding.h"
#include "server/http/calls/method_table.h"
#include "server/http/http_call.h"

namespace mpsd {

// The body is the request of a method in the MethodTable, inflated first. Made for a call that has
// passed the gate; the model that the request names passes it here.
//
// Lives on its connection's thread, except a deferred method's answer. Owns itself.
class GrpcMethodTask final : public HttpTask {
 public:
  struct Entry {
    const MethodTable::Method* method = nullptr;  // outlives the task, like the next
    const MethodAccess* access = nullptr;
    BodyCoding coding = BodyCoding::kPlain;
    int64_t end_ns = 0;  // GrpcEnd(), for a GrpcLastingTask
    OpenCalls::Place place;
    Grant grant;
  };

  // The context outlives the task.
  GrpcMethodTask(const DoorContext* context, HttpCall* call, Entry entry)
      : context_(context),
        call_(call),
        kind_(GrpcKindOf(*call)),
        entry_(std::move(entry)),
        inflation_(context->inflaters, context->inflate_bounds) {
    context_->exchange.metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  }

  // HttpTask.
  void Serve(BodyEnd body) override;
  void Resumed() override;
  void ClientLeft() override { inflation_.Drop(); }
  void Over() override {
    context_->exchange.metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
    delete this;
  }

 private:
  ~GrpcMethodTask() = default;

  void Call(absl::string_view request);
  void Answer(const absl::Status& status, const std::string& response);

  const DoorContext* const context_;
  HttpCall* const call_;
  const GrpcKind kind_;
  Entry entry_;
  std::string body_;  // as it came, or the plain request
  MessageInflation inflation_;
};

}  // namespace mpsd
