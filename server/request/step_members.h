// StepMembers: whether the models that a model of steps runs are available.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// The members' required state: loaded, so that their queues take requests, or ready, so that a
// worker of each serves.
enum class MemberNeed { kLoaded, kReady };

// Part of a generation whose model runs others. Looks at the current members at each call.
// Implemented by steps/. Thread-safe; never blocks longer than a look-up.
class StepMembers {
 public:
  virtual ~StepMembers() = default;

  // OK if all members exist and have the tensors that the steps name. Else NOT_FOUND or
  // UNAVAILABLE, in words for clients that name the step and its model.
  virtual absl::Status Check(MemberNeed need) const = 0;
};

}  // namespace mpsd
