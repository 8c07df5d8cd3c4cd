#include "server/admit/admission.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "server/admit/padding.h"
#include "server/admit/validator.h"
#include "server/request/served_model.h"

namespace mpsd {
namespace {

// How often a request looks for its model. A model is not replaced more often meanwhile.
constexpr int kMostLooks = 3;

}  // namespace

bool Admission::Handle(const InferMessage& message, Request* request) {
  bool copied = true;
  absl::Status status = Admit(message, request, &copied);
  // A queue that was closed after the look-up has a successor, which accepts the request.
  for (int look = 1; absl::IsAborted(status) && look < kMostLooks; ++look) {
    request->ForgetModel();
    status = Admit(message, request, &copied);
  }
  if (absl::IsAborted(status)) status = absl::UnavailableError(status.message());
  if (!status.ok()) request->reply.Fail(status);
  return copied;
}

absl::Status Admission::Admit(const InferMessage& message, Request* request, bool* copied) const {
  const ServingStage stage = models_->stage;
  if (stage == ServingStage::kStarting) return absl::UnavailableError("Server not ready");
  if (stage == ServingStage::kExiting) return absl::UnavailableError("Server exiting");
  absl::StatusOr<std::shared_ptr<ServedModel>> model =
      FindServed(*models_, message.model, message.version);
  if (!model.ok()) return model.status();
  request->model = *model;
  request->metrics = &(*model)->metrics;
  // A model that has lost all its workers keeps its queue: a new worker starts in a moment.
  if (!(*model)->loaded) {
    return absl::UnavailableError(
        absl::StrCat("Request for model '", message.model, "' is not at ready state"));
  }
  if ((*model)->spec.decoupled && !message.takes_many) {
    return absl::UnimplementedError(
        "ModelInfer RPC doesn't support models with decoupled transaction policy");
  }
  return Enter(message, model->get(), request, copied);
}

absl::Status Admission::Enter(const InferMessage& message, ServedModel* model, Request* request,
                              bool* copied) const {
  if (message.timeout_us > 0 && message.timeout_us < kMaxTimeoutNs / kNsPerUs) {
    request->deadline_ns =
        std::min(request->deadline_ns, request->arrival_ns + message.timeout_us * kNsPerUs);
    request->patience_ns = 0;
  }
  const int64_t wait_ns = model->facts.queue_timeout_ns;
  if (wait_ns > 0) request->LimitWait(request->arrival_ns + wait_ns);
  if (request->deadline_ns <= clock_->NowNs()) {
    return absl::DeadlineExceededError("Request timeout expired");
  }
  absl::Status status = Validate(message, *model, request);
  if (!status.ok()) return status;
  status = ApplyPadding(model->spec, request);
  request->filler = &writer_;
  RowTargets targets;
  if (status.ok()) status = model->queue->Reserve(request, &targets);
  if (!status.ok()) return WithId(status, message.id);
  *copied = !targets.later;
  if (targets.later) return absl::OkStatus();
  writer_.Fill(model->spec, *request, targets);
  model->queue->Commit(request);
  return absl::OkStatus();
}

}  // namespace mpsd
