// HttpDoor: what the HTTP server serves: the Open Inference Protocol over REST, metrics, probes.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/access/method_access.h"
#include "server/door/door_context.h"
#include "server/door/infer_task.h"
#include "server/http/http_call.h"
#include "server/route/route.h"

namespace mpsd {

// The second door into the house, beside accept/ for gRPC. Finds a request's route, has it pass the
// gate and the ledger of open calls, which are the same as gRPC's, and gives it to a task:
//
//   …/infer                  InferTask, by its InferExchange
//   …/generate[_stream]      GenerateTask, likewise
//   /v1/embeddings, …        TextTask, likewise
//   /tokenize                TokenizeTask, by the model's tokenizer
//   metadata, statistics, …  MethodTask, by the MethodTable; the page at "/", too
//   /v1/models, /info        at once (TextPageOf)
//   /metrics, probes, /docs  at once, and whatever else is open: a probe is not counted as a call
//
// What a request passes, in this order and before a byte of its body is kept: the page's origin,
// the gate, the ledger of open calls; a request of inference passes the ledger first. A request
// that is refused here was answered, and its body is never read. A path that does not exist passes
// the gate like any other.
//
// All errors are {"error": TEXT}, but those of the text routes (TextErrorOf). One for each thread
// of the HttpServer, which owns it. Lives on that thread.
class HttpDoor final : public HttpHandler {
 public:
  // Keeps a copy of the context, whose referents outlive the door, as the thread's role does.
  HttpDoor(const DoorContext& context, const ThreadRole* thread);

  HttpTask* Arrived(HttpCall* call) override;
  HttpReply Refusal(int status, absl::string_view why) override;

 private:
  // As many tasks of a kind are kept for further requests.
  static constexpr size_t kMaxSpare = 1024;

  using Spare = std::vector<std::unique_ptr<InferTask>>;

  bool RefusesPage(HttpCall* call) const;
  HttpTask* Infer(HttpCall* call, const Route& route) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  std::unique_ptr<InferTask> MakeTask(RouteKind kind);
  HttpTask* CallMethod(HttpCall* call, const Route& route, const Grant& grant);
  HttpReply Page(const Route& route) const;
  HttpReply Refused(const HttpCall& call, const Route& route, const absl::Status& status) const;
  void Back(InferTask* task, RouteKind kind);
  Spare& SpareOf(RouteKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  const StatusPage front_page_;
  DoorContext context_;
  const ThreadRole* const thread_;
  Spare spare_infers_ ABSL_GUARDED_BY(thread_);
  Spare spare_generates_ ABSL_GUARDED_BY(thread_);
  Spare spare_texts_ ABSL_GUARDED_BY(thread_);
};

}  // namespace mpsd
