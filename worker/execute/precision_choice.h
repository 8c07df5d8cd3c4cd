// precision_choice: loads a model in the precision that "auto" takes, and in int8.
//
//   load fp32, run it                     gives the reference answers
//   for each of PrecisionCandidates():
//     load it, run the same inputs        skipped if this fails
//     CompareAnswers(), GainFault()       the first that passes is taken
//   none                                  fp32
//
// The inputs are the warm-up samples, or else random numbers of two shapes. The model's
// precision_note() says why no coarser precision was taken. Measured times differ between workers,
// so the front end holds all workers of a generation to the first one's choice.
#pragma once

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/link/precision.h"
#include "proto/link/warm_up_sample.h"
#include "worker/execute/precision_policy.h"
#include "worker/model/model.h"

namespace mpsd {

// Each call loads the model anew.
using LoadInPrecision =
    absl::FunctionRef<absl::StatusOr<std::unique_ptr<Model>>(Precision precision)>;

struct PrecisionChoiceOptions {
  bool cpu_has_bf16 = false;
  absl::Span<const WarmUpSample> samples = {};
  const Clock* clock = Clock::Real();
};

// Returns the model as "auto" takes it. A model that does not load in fp32 stays as it was saved;
// one that refuses the trial inputs stays in fp32. Two models are in memory at once; a candidate
// that does not fit beside fp32 is skipped.
//
// Fails as `load` does for kAsSaved, and with DATA_LOSS if the device is lost. Blocks for up to
// four loads and their runs. Binds lane 0 to the calling thread for each run.
absl::StatusOr<std::unique_ptr<Model>> ChoosePrecision(LoadInPrecision load,
                                                       const PrecisionChoiceOptions& options);

// Returns the model in int8. FAILED_PRECONDITION: its answers are not within kInt8Bounds of fp32's,
// or cannot be compared. Otherwise fails as `load` does for kInt8, with RESOURCE_EXHAUSTED without
// memory for fp32 or its runs, and with DATA_LOSS if the device is lost. Two models are in memory
// at once.
absl::StatusOr<std::unique_ptr<Model>> LoadInInt8(LoadInPrecision load,
                                                  const PrecisionChoiceOptions& options);

}  // namespace mpsd
