// GenerationMaker: starts and ends generations of models.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/config/config.h"
#include "server/request/served_model.h"

namespace mpsd {

// Connects the reload of models with their wiring: an implementation knows pools and workers, a
// reloader does not. Implemented by models/. Never called on a request's path. Thread-safe.
class GenerationMaker {
 public:
  virtual ~GenerationMaker() = default;

  // Makes a generation and begins to start its workers, without waiting. Requests find it only when
  // the caller has published it. `others` are the models that share the host. `counters` are the
  // previous generation's, or fresh ones. Never null.
  virtual std::shared_ptr<ServedModel> Start(const ModelConfig& model,
                                             absl::Span<const ModelConfig> others,
                                             std::shared_ptr<ModelMetrics> counters) = 0;

  // Blocks until all workers of the generation serve (OK) or one has failed, and returns why.
  // CANCELLED once `give_up` returns true; it is called a few times a second.
  virtual absl::Status WaitUntilServing(const ServedModel& model,
                                        const std::function<bool()>& give_up) = 0;

  // Why no worker of the generation serves. OK while one serves, and while none has failed yet.
  // FAILED_PRECONDITION: none starts again, since the model's file or config is at fault.
  virtual absl::Status Fault(const ServedModel& model) const = 0;

  // Ends the generation's workers once the requests inside have ended. Does not wait. Called once
  // for each generation. REQUIRES: requests do not find it any more.
  virtual void Retire(const std::shared_ptr<ServedModel>& model) = 0;
};

}  // namespace mpsd
