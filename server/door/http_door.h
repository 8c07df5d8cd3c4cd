// HttpDoor: serves one thread's requests over HTTP and gRPC.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "server/access/method_access.h"
#include "server/door/door_context.h"
#include "server/door/grpc_form.h"
#include "server/door/infer_task.h"
#include "server/door/method_watchers.h"
#include "server/door/page/status_page.h"
#include "server/door/route/route.h"
#include "server/http/http_call.h"

namespace mpsd {

// Finds a request's route and gives it to a task:
//
//   …/infer                  InferTask, by its InferExchange
//   …/generate[_stream]      GenerateTask, likewise
//   /v1/embeddings, …        TextTask, likewise
//   /tokenize                TokenizeTask, by the model's tokenizer
//   metadata, statistics, …  MethodTask, by the MethodTable; the page at "/", too
//   /v1/models, /info        at once (TextPageOf)
//   a call of gRPC           GrpcInferTask, GrpcStreamTask, GrpcMethodTask or GrpcLastingTask;
//                            over HTTP/1.1 unary calls of gRPC-Web alone
//   /metrics, probes, /docs  at once, and whatever else is open: a probe is not counted as a call
//
// Before a byte of its body is kept, a request passes the page's origin, the gate, and the ledger
// of open calls; an inference passes the ledger first. A refused request's body is never read. A
// path that does not exist passes the gate too.
//
// Owned by the HttpServer. Lives on one of its threads.
class HttpDoor final : public HttpHandler {
 public:
  // The context's referents and the thread's role outlive the door.
  HttpDoor(const DoorContext& context, const ThreadRole* thread);

  HttpTask* Arrived(HttpCall* call) override;
  size_t RoundIsOver() override;
  void Look() override { watchers_.Look(context_.exchange.clock->NowNs()); }
  HttpReply Refusal(const HttpCall& call, int status, absl::string_view why) override;

 private:
  // Tasks of a kind kept for further requests.
  static constexpr size_t kMaxSpare = 1024;

  using Spare = std::vector<std::unique_ptr<InferTask>>;

  bool RefusesPage(HttpCall* call, bool is_grpc) const;
  HttpTask* Infer(HttpCall* call, Route route) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  std::unique_ptr<InferTask> MakeTask(RouteKind kind);
  HttpTask* CallOfGrpc(HttpCall* call, GrpcKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  absl::StatusOr<HttpTask*> BeginStream(HttpCall* call, GrpcKind kind);
  absl::StatusOr<HttpTask*> BeginMethod(HttpCall* call, GrpcKind kind);
  absl::StatusOr<int64_t> EndOf(const HttpCall& call) const;
  HttpTask* CallMethod(HttpCall* call, const Route& route, const Grant& grant);
  HttpReply Page(const HttpCall& call, const Route& route) const;
  HttpReply Refused(const HttpCall& call, const Route& route, const absl::Status& status) const;
  void Back(InferTask* task, RouteKind kind);
  Spare& SpareOf(RouteKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  const StatusPage front_page_;
  MethodWatchers watchers_;
  RequestBunch bunch_;
  DoorContext context_;
  const ThreadRole* const thread_;
  Spare spare_infers_ ABSL_GUARDED_BY(thread_);
  Spare spare_generates_ ABSL_GUARDED_BY(thread_);
  Spare spare_calls_ ABSL_GUARDED_BY(thread_);
  Spare spare_texts_ ABSL_GUARDED_BY(thread_);
};

}  // namespace mpsd
