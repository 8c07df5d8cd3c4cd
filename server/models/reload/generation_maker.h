// GenerationMaker: starts and ends generations of models.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/config/config.h"
#include "server/request/served_model.h"

namespace mpsd {

// Knows pools and workers; a reloader does not. Implemented by models/. Never on a request's
// path. Thread-safe.
class GenerationMaker {
 public:
  virtual ~GenerationMaker() = default;

  // Begins to start workers, without waiting. Requests find the generation once the caller has
  // published it. `others` share the host. `counters` are the previous generation's, or fresh.
  // Never null.
  virtual std::shared_ptr<ServedModel> Start(const ModelConfig& model,
                                             absl::Span<const ModelConfig> others,
                                             std::shared_ptr<ModelMetrics> counters) = 0;

  // Blocks until all workers serve (OK) or one has failed (why). CANCELLED once `give_up`, asked a
  // few times a second, returns true.
  virtual absl::Status WaitUntilServing(const ServedModel& model,
                                        const std::function<bool()>& give_up) = 0;

  // Why no worker serves. OK while one serves or none has failed yet. FAILED_PRECONDITION: none
  // starts again.
  virtual absl::Status Fault(const ServedModel& model) const = 0;

  // The workers end once the requests inside have ended. Does not wait. Called once for each
  // generation. REQUIRES: requests do not find it any more.
  virtual void Retire(const std::shared_ptr<ServedModel>& model) = 0;
};

}  // namespace mpsd
