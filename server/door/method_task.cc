#include "server/door/method_task.h"

#include "absl/status/statusor.h"
#include "proto/base/check.h"
#include "proto/inference.pb.h"
#include "server/door/body_fault.h"
#include "server/door/error_reply.h"
#include "server/door/front_page_reply.h"
#include "server/door/method_bodies.h"
#include "server/http/calls/method_table.h"

namespace mpsd {
namespace {

bool SaysReady(const std::string& response) {
  inference::ModelReadyResponse ready;
  return ready.ParseFromString(response) && ready.ready();
}

}  // namespace

void MethodTask::Serve(BodyEnd body) {
  const absl::string_view bytes = call_->request().body.view();
  const bool is_large = bytes.size() > kMaxRequestBytes;
  const BodyFault fault = FaultOf(is_large ? BodyEnd::kTooLarge : body);
  if (!fault.status.ok()) {
    return call_->Reply(ErrorReply(fault.status, context_->style, fault.http_code));
  }
  // A request that only looks changes nothing, whatever its body says.
  const bool changes = call_->request().method == "POST";
  const absl::StatusOr<std::string> request = MethodRequestOf(route_, changes ? bytes : "");
  if (!request.ok()) return call_->Reply(ErrorReply(request.status(), context_->style));
  Call(*request);
}

void MethodTask::Call(const std::string& request) {
  const MethodTable::Method* const method = context_->methods->Find(MethodNameOf(route_.kind));
  MPSD_CHECK(method != nullptr);
  const CallerInfo caller{call_->peer(), call_->connection()};
  if (method->kind == MethodTable::Kind::kDeferred) {
    // The task lives until the reply; afterwards it is not touched.
    return method->deferred(caller, request,
                            [this](const absl::Status& status, const std::string& response) {
                              call_->Reply(ReplyTo(status, response));
                            });
  }
  std::string response;
  const absl::Status status = method->unary(caller, request, &response);
  call_->Reply(ReplyTo(status, response));
}

HttpReply MethodTask::ReplyTo(const absl::Status& status, const std::string& response) const {
  if (route_.kind == RouteKind::kFrontPage) return FrontPage(status, response);
  if (!status.ok()) return ErrorReply(status, context_->style);
  absl::StatusOr<std::string> json = MethodJsonOf(route_.kind, response);
  if (!json.ok()) return ErrorReply(json.status(), context_->style);
  HttpReply reply(200, kJsonType, *std::move(json));
  if (route_.kind == RouteKind::kModelReady && !SaysReady(response)) reply.status = 503;
  return reply;
}

HttpReply MethodTask::FrontPage(const absl::Status& status, const std::string& response) const {
  const StatusPage& page = *context_->front_page;
  if (status.ok()) return FrontPageReply(page, response);
  return FrontPageRefusal(page, call_->request(), status, context_->style);
}

}  // namespace mpsd
