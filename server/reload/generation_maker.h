// How a generation of a model comes to be, and ends.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/config/config.h"
#include "server/request/served_model.h"

namespace mpsd {

// Thread-safe. Implemented beside the daemon's wiring, which knows pools and workers.
class GenerationMaker {
 public:
  virtual ~GenerationMaker() = default;

  // A generation whose workers are being started; requests do not find it yet. `others`
  // share the host with it. `counters` are those of the generation before, or fresh ones.
  virtual std::shared_ptr<ServedModel> Start(const ModelConfig& model,
                                             absl::Span<const ModelConfig> others,
                                             std::shared_ptr<ModelMetrics> counters) = 0;

  // Blocks until all its workers serve. Otherwise why one of them failed, or CANCELLED once
  // `give_up` says so, which is asked a few times a second.
  virtual absl::Status WaitUntilServing(const ServedModel& model,
                                        const std::function<bool()>& give_up) = 0;

  // Why none of its workers serves; OK while one does, or the first are on their way.
  virtual absl::Status Fault(const ServedModel& model) const = 0;

  // Requests that are inside are finished, then its workers end. Does not wait.
  // REQUIRES: requests do not find it any more.
  virtual void Retire(const std::shared_ptr<ServedModel>& model) = 0;
};

}  // namespace mpsd
