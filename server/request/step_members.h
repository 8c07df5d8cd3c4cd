// StepMembers: whether the models that a model of steps runs are there.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// How far the members must be: loaded, so that their queues take requests, or ready, so that a
// worker of each serves.
enum class MemberNeed { kLoaded, kReady };

// Part of a generation whose model runs others. Looks at the members as they are now, each time
// that it is asked. Implemented by steps/. Thread-safe; never blocks longer than a look-up takes.
class StepMembers {
 public:
  virtual ~StepMembers() = default;

  // OK where all members are there, and have the tensors that the steps name. Else NOT_FOUND or
  // UNAVAILABLE, in words for clients that name the step and its model.
  virtual absl::Status Check(MemberNeed need) const = 0;
};

}  // namespace mpsd
