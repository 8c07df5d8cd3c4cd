// StepMembers: whether a model's steps can run.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// kLoaded: their queues take requests. kReady: a worker of each serves.
enum class MemberNeed { kLoaded, kReady };

// Looks at the current members at each call. Never blocks longer than a look-up. Implemented by
// steps/. Thread-safe.
class StepMembers {
 public:
  virtual ~StepMembers() = default;

  // NOT_FOUND or UNAVAILABLE for clients, with the step and its model, unless all exist with the
  // tensors that the steps name.
  virtual absl::Status Check(MemberNeed need) const = 0;
};

}  // namespace mpsd
