#include "client/async_infer.h"

#include <utility>

#include "absl/time/clock.h"
#include "client/wire.h"

namespace mpsd::client {

void AsyncInfer::Start(Client::Stubs* stubs, inference::ModelInferRequest request,
                       const RetryOptions& retry, absl::Time deadline, Client::InferDone done) {
  stubs->CallBegins();
  (new AsyncInfer(stubs, std::move(request), retry, deadline, std::move(done)))->Try();
}

AsyncInfer::AsyncInfer(Client::Stubs* stubs, inference::ModelInferRequest request,
                       const RetryOptions& retry, absl::Time deadline, Client::InferDone done)
    : stubs_(stubs),
      request_(std::move(request)),
      retry_(retry),
      deadline_(deadline),
      done_(std::move(done)) {}

void AsyncInfer::Try() {
  ++attempt_;
  context_.emplace();
  stubs_->Prepare(deadline_, &*context_);
  response_.Clear();
  stubs_->inference_stub.async()->ModelInfer(&*context_, &request_, &response_,
                                             [this](grpc::Status status) { Ended(status); });
}

void AsyncInfer::Ended(const grpc::Status& status) {
  if (status.ok()) return CallBack(FromWire(std::move(response_)));
  const std::optional<absl::Duration> delay =
      RetryDelay(retry_, Failed(status, attempt_, deadline_), absl::Uniform(dice_, 0.0, 1.0));
  if (!delay.has_value()) return CallBack(ToAbsl(status));
  alarm_.Set(absl::ToChronoTime(absl::Now() + *delay), [this](bool) { Try(); });
}

void AsyncInfer::CallBack(absl::StatusOr<InferReply> reply) {
  Client::Stubs* const stubs = stubs_;
  done_(std::move(reply));
  delete this;
  stubs->CallEnds();
}

}  // namespace mpsd::client
