#include "server/door/http_door.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/bodies/json/json_text.h"
#include "server/bodies/text_routes/text_error.h"
#include "server/bodies/text_routes/text_route.h"
#include "server/door/error_reply.h"
#include "server/door/front_page_reply.h"
#include "server/door/generate_task.h"
#include "server/door/grpc_infer_task.h"
#include "server/door/grpc_lasting_task.h"
#include "server/door/grpc_method_task.h"
#include "server/door/grpc_stream_task.h"
#include "server/door/grpc_web.h"
#include "server/door/http_gate.h"
#include "server/door/method_bodies.h"
#include "server/door/method_task.h"
#include "server/door/page/page_files.h"
#include "server/door/route/body_coding.h"
#include "server/door/route/page_origin.h"
#include "server/door/text_page.h"
#include "server/door/text_task.h"
#include "server/door/tokenize_task.h"
#include "server/telemetry/http/http_answer.h"
#include "server/telemetry/load_sampler.h"

namespace mpsd {
namespace {

constexpr int kLargeHead = 431;

const MethodAccess& AccessOfRoute(const Route& route) {
  switch (route.kind) {
    case RouteKind::kNone:
    case RouteKind::kWrongMethod:
      return kUnknownPathAccess;
    case RouteKind::kPage:
      return AccessOf(route.page);
    case RouteKind::kDocs:
      return AccessOf("/docs");
    case RouteKind::kTextPage:
      return AccessOf(route.text.route == TextRoute::kInfo ? "/info" : "/v1/models");
    case RouteKind::kTokenize:
      return kModelInferAccess;
    default:
      return AccessOf(MethodNameOf(route.kind));
  }
}

HttpReply NoSuchPath(absl::string_view path) {
  return {404, kJsonType, NoSuchPathJson(FormOfUnknownPath(path))};
}

absl::Status NoLastingCallOfPages() {
  return absl::UnimplementedError("this method is not for gRPC-Web");
}

HttpReply WrongMethod(const Route& route) {
  const absl::Status status =
      absl::InvalidArgumentError(absl::StrCat("this path takes ", route.allow));
  HttpReply reply = RouteError(route, status, 405, StatusStyle::kOwn);
  reply.AddHeader("Allow", route.allow);
  return reply;
}

// By the header endpoint-load-metrics-format, for ORCA's clients:
//
//   call       header    reply
//   HTTP       TEXT      endpoint-load-metrics: TEXT application_utilization=0.5,…
//   HTTP       JSON      endpoint-load-metrics: JSON {…}
//   gRPC       any       endpoint-load-metrics-bin, a trailer
//
// With `names` the report has each model's figures. Called before the reply.
void AddLoadReport(GrpcKind kind, LoadSampler* sampler, bool names, HttpCall* call) {
  const absl::string_view format = call->request().Header("endpoint-load-metrics-format");
  if (format.empty() || sampler == nullptr) return;
  const std::shared_ptr<const LoadSampler::Sample> sample = sampler->Now();
  const OrcaForms& forms = names ? sample->named : sample->nameless;
  if (kind == GrpcKind::kOwn) {
    call->AddTrailers(
        absl::StrCat("endpoint-load-metrics-bin: ", absl::Base64Escape(forms.bytes), "\r\n"));
  } else if (absl::EqualsIgnoreCase(format, "text")) {
    call->AddHeaders(absl::StrCat("endpoint-load-metrics: TEXT ", forms.text, "\r\n"));
  } else if (absl::EqualsIgnoreCase(format, "json")) {
    call->AddHeaders(absl::StrCat("endpoint-load-metrics: JSON ", forms.json, "\r\n"));
  }
}

}  // namespace

HttpDoor::HttpDoor(const DoorContext& context, const ThreadRole* thread)
    : context_(context), thread_(thread) {
  context_.exchange.thread = thread;
  context_.front_page = &front_page_;
  context_.watchers = &watchers_;
  context_.exchange.bunch = &bunch_;
}

size_t HttpDoor::RoundIsOver() {
  const size_t count = bunch_.requests.size();
  if (count > 0) context_.exchange.handler->EnterAll(&bunch_);
  return count;
}

HttpReply HttpDoor::Refusal(const HttpCall& call, int status, absl::string_view why) {
  if (GrpcKindOf(call) != GrpcKind::kNone) {
    const bool is_large = status == kLargeHead;
    return GrpcError(is_large ? absl::ResourceExhaustedError(why) : absl::InternalError(why),
                     StatusStyle::kOwn);
  }
  return {status, kJsonType, ErrorJson(why)};
}

HttpTask* HttpDoor::Arrived(HttpCall* call) {
  thread_->Check();
  const HttpRequest& request = call->request();
  const GrpcKind kind = GrpcKindOf(*call);
  if (RefusesPage(call, /*is_grpc=*/kind == GrpcKind::kOwn)) return nullptr;
  AddLoadReport(kind, context_.load, /*names=*/!context_.gate->in_force(), call);
  if (kind != GrpcKind::kNone) return CallOfGrpc(call, kind);
  Route route = RouteOf(request.method, request.path);
  if (IsInference(route.kind)) return Infer(call, std::move(route));
  const MethodAccess& access = AccessOfRoute(route);
  Grant grant;
  absl::Status status = context_.gate->Enter(*call, access, &grant);
  if (status.ok() && access.model_field != 0) {
    status = context_.gate->MayUse(*call, access, route.model, &grant);
  }
  if (!status.ok()) {
    call->Reply(Refused(*call, route, status));
    return nullptr;
  }
  if (route.kind == RouteKind::kPage) {
    call->Reply(Page(*call, route));
  } else if (route.kind == RouteKind::kTextPage) {
    call->Reply(TextPageOf(context_, *call, route, &grant));
  } else if (route.kind == RouteKind::kDocs) {
    call->Reply({200, kJsonType, std::string(kRoutesFile)});
  } else if (route.kind == RouteKind::kNone) {
    call->Reply(NoSuchPath(request.path));
  } else if (route.kind == RouteKind::kWrongMethod) {
    call->Reply(WrongMethod(route));
  } else {
    return CallMethod(call, route, grant);
  }
  return nullptr;
}

// Answers what a page of another site made, could have made, or asked about; true then. Reveals
// nothing about paths. gRPC may name any host: browsers speak HTTP/2 only where a certificate has
// confirmed the name.
bool HttpDoor::RefusesPage(HttpCall* call, bool is_grpc) const {
  const HttpRequest& request = call->request();
  if (!is_grpc && HasForeignHost(request, call->peer(), context_.hosts)) {
    call->Reply({403, kJsonType, ErrorJson("this server has another name: see listen.hosts")});
    return true;
  }
  const PageOrigin origin = OriginOf(request, context_.origins);
  if (origin == PageOrigin::kForeign) {
    call->Reply({403, kJsonType, ErrorJson("pages of this site may not call: see listen.cors")});
    return true;
  }
  if (origin == PageOrigin::kNone) return false;
  call->AddHeaders(OriginHeaders(request, context_.origins));
  if (!IsPreflight(request)) return false;
  HttpReply reply(200, kJsonType, "");
  reply.headers = PreflightHeaders();
  call->Reply(std::move(reply));
  return true;
}

HttpTask* HttpDoor::Infer(HttpCall* call, Route route) {
  Spare& spare = SpareOf(route.kind);
  if (spare.empty()) spare.push_back(MakeTask(route.kind));
  InferTask* const task = spare.back().release();
  spare.pop_back();
  return task->Begin(call, std::move(route)) ? task : nullptr;
}

HttpDoor::Spare& HttpDoor::SpareOf(RouteKind kind) {
  if (kind == RouteKind::kText) return spare_texts_;
  if (kind == RouteKind::kCall) return spare_calls_;
  return kind == RouteKind::kInfer ? spare_infers_ : spare_generates_;
}

std::unique_ptr<InferTask> HttpDoor::MakeTask(RouteKind kind) {
  auto back = [this, kind](InferTask* task) { Back(task, kind); };
  if (kind == RouteKind::kText) return std::make_unique<TextTask>(&context_, std::move(back));
  if (kind == RouteKind::kCall) return std::make_unique<GrpcInferTask>(&context_, std::move(back));
  if (kind == RouteKind::kInfer) return std::make_unique<InferTask>(&context_, std::move(back));
  return std::make_unique<GenerateTask>(&context_, std::move(back));
}

void HttpDoor::Back(InferTask* task, RouteKind kind) {
  thread_->Check();
  std::unique_ptr<InferTask> over(task);
  Spare& spare = SpareOf(kind);
  if (spare.size() < kMaxSpare) spare.push_back(std::move(over));
}

HttpTask* HttpDoor::CallOfGrpc(HttpCall* call, GrpcKind kind) {
  const absl::string_view name = call->request().path;
  if (name == kModelInferAccess.name) {
    Route route;
    route.kind = RouteKind::kCall;
    return Infer(call, std::move(route));
  }
  const bool is_stream = name == kModelStreamInferAccess.name;
  const absl::StatusOr<HttpTask*> task =
      is_stream ? BeginStream(call, kind) : BeginMethod(call, kind);
  if (task.ok()) return *task;
  HttpReply reply = GrpcError(task.status(), is_stream ? context_.style : StatusStyle::kOwn);
  ToWeb(kind, &reply);
  call->Reply(std::move(reply));
  return nullptr;
}

absl::StatusOr<HttpTask*> HttpDoor::BeginStream(HttpCall* call, GrpcKind kind) {
  GrpcStreamTask::Entry entry;
  absl::Status status = context_.open_stream_calls->Enter(call->peer(), &entry.place);
  entry.place.BelongToNone();
  if (status.ok()) status = context_.gate->Enter(*call, kModelStreamInferAccess, &entry.grant);
  if (!status.ok()) return status;
  const absl::StatusOr<BodyCoding> coding = GrpcCoding(call, context_.inflaters != nullptr);
  if (!coding.ok()) return coding.status();
  const absl::StatusOr<int64_t> end_ns = EndOf(*call);
  if (!end_ns.ok()) return end_ns.status();
  entry.kind = kind;
  entry.coding = *coding;
  entry.end_ns = *end_ns;
  return new GrpcStreamTask(&context_, call, std::move(entry));
}

absl::StatusOr<int64_t> HttpDoor::EndOf(const HttpCall& call) const {
  return GrpcEnd(call.request().Header(kGrpcTimeout), context_.exchange.clock->NowNs());
}

absl::StatusOr<HttpTask*> HttpDoor::BeginMethod(HttpCall* call, GrpcKind kind) {
  const absl::string_view name = call->request().path;
  const MethodAccess& access = AccessOf(name);
  GrpcMethodTask::Entry entry;
  absl::Status status = context_.open_other_calls->Enter(call->peer(), &entry.place);
  entry.place.BelongToNone();
  if (status.ok()) status = context_.gate->Enter(*call, access, &entry.grant);
  if (!status.ok()) return status;
  entry.access = &access;
  entry.method = context_.methods->Find(name);
  if (entry.method == nullptr) {
    return absl::UnimplementedError(absl::StrCat("unknown method ", name));
  }
  const bool lasts = entry.method->kind == MethodTable::Kind::kWatched ||
                     entry.method->kind == MethodTable::Kind::kConversation;
  if (lasts && kind != GrpcKind::kOwn) return NoLastingCallOfPages();
  const absl::StatusOr<BodyCoding> coding = GrpcCoding(call, context_.inflaters != nullptr);
  if (!coding.ok()) return coding.status();
  entry.coding = *coding;
  if (!lasts) return new GrpcMethodTask(&context_, call, std::move(entry));
  const absl::StatusOr<int64_t> end_ns = EndOf(*call);
  if (!end_ns.ok()) return end_ns.status();
  entry.end_ns = *end_ns;
  return new GrpcLastingTask(&context_, call, std::move(entry));
}

HttpTask* HttpDoor::CallMethod(HttpCall* call, const Route& route, const Grant& grant) {
  const absl::Status coding = CheckCoding(CodingOf(call->request()), /*allowed=*/false);
  if (!coding.ok()) {
    call->Reply(RouteError(route, coding, kUnsupportedMedia, context_.style));
    return nullptr;
  }
  OpenCalls::Place place;
  if (absl::Status status = context_.open_other_calls->Enter(call->peer(), &place); !status.ok()) {
    call->Reply(RouteError(route, status, 0, context_.style));
    return nullptr;
  }
  place.BelongToNone();
  if (route.kind == RouteKind::kTokenize) {
    return new TokenizeTask(&context_, call, route, std::move(place), grant);
  }
  return new MethodTask(&context_, call, route, std::move(place));
}

HttpReply HttpDoor::Refused(const HttpCall& call, const Route& route,
                            const absl::Status& status) const {
  if (route.kind != RouteKind::kFrontPage) return RouteError(route, status, 0, context_.style);
  return FrontPageRefusal(front_page_, call.request(), status, context_.style);
}

HttpReply HttpDoor::Page(const HttpCall& call, const Route& route) const {
  HttpAnswer answer =
      AnswerTo(route.page, call.request().Header("accept"), *context_.page, context_.health);
  HttpReply reply(answer.code, answer.content_type, std::move(answer.body));
  reply.AddHeader("Cache-Control", "no-store");
  return reply;
}

}  // namespace mpsd
