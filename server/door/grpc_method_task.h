// GrpcMethodTask: one call of gRPC or gRPC-Web that does not infer.
#pragma once

#include <string>
#include <utility>

#include "server/door/door_context.h"
#include "server/door/grpc_form.h"
#include "server/door/message_inflation.h"
#include "server/entry/method_table.h"
#include "server/http/http_call.h"
#include "server/route/body_coding.h"

namespace mpsd {

// Answers a unary method of the MethodTable: the body is the method's request, and its response the
// reply. The HttpDoor makes a task for a call that has passed the gate. A compressed request is
// inflated first. The model that a request names passes the gate here. The task gives back its
// place among the open calls when it is over.
//
// Lives on its connection's thread, except for the answer of a deferred method. Owns itself.
class GrpcMethodTask final : public HttpTask {
 public:
  // Context, method and access outlive the task.
  GrpcMethodTask(const DoorContext* context, HttpCall* call, const MethodTable::Method* method,
                 const MethodAccess* access, BodyCoding coding, OpenCalls::Place place, Grant grant)
      : context_(context),
        call_(call),
        kind_(GrpcKindOf(*call)),
        method_(method),
        access_(access),
        coding_(coding),
        place_(std::move(place)),
        grant_(std::move(grant)),
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
  const MethodTable::Method* const method_;
  const MethodAccess* const access_;
  const BodyCoding coding_;
  const OpenCalls::Place place_;
  Grant grant_;
  std::string body_;  // as it came, or the plain request
  MessageInflation inflation_;
};

}  // namespace mpsd
