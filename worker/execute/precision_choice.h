// precision_choice: loads a model in the precision that "auto" takes, and in int8.
//
// Where the config says `precision: auto`, LoadModel() loads the model through here, on the main
// thread, before any lane starts:
//
//   load fp32, run it                     the answers to agree with
//   for each of PrecisionCandidates():    precision_policy.h
//     load it, run the same inputs        one that cannot be loaded or run is passed over
//     CompareAnswers(), GainFault()       the first one that agrees and is faster is taken
//   none                                  the fp32 model of the first step
//
// The inputs are the samples of the warm-up where the config has some, otherwise random numbers of
// the smallest shape, and of the largest or what of it fp32 runs in time (trial_bound.h). Whatever
// is taken, the model's precision_note() says why no coarser one was. What was measured depends on
// the machine, so two workers may come to different ends: the front end holds all workers of a
// generation to the first one's.
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

// Loads the model in a precision, anew with each call.
using LoadInPrecision =
    absl::FunctionRef<absl::StatusOr<std::unique_ptr<Model>>(Precision precision)>;

struct PrecisionChoiceOptions {
  bool cpu_has_bf16 = false;
  absl::Span<const WarmUpSample> samples = {};
  const Clock* clock = Clock::Real();
};

// The model as "auto" takes it. One that cannot be loaded in fp32, but as it was saved, stays as it
// was saved; one that refuses the trial inputs stays in fp32. Two models are in memory at once:
// that of fp32 and the one that is tried. One that does not fit beside it is passed over.
//
// Fails as `load` does for kAsSaved, and with DATA_LOSS where the device is lost in a trial. Blocks
// for up to four loads and their runs. Binds lane 0 to the calling thread for the time of each run.
absl::StatusOr<std::unique_ptr<Model>> ChoosePrecision(LoadInPrecision load,
                                                       const PrecisionChoiceOptions& options);

// The model in int8, which the config asks for, if its answers to the same questions are within
// kInt8Bounds of those of fp32: its precision_note() says by how much. FAILED_PRECONDITION where
// they are not, or cannot be compared: nothing finer is taken unasked. Whether it is faster is not
// asked. Otherwise fails as `load` does for kInt8, with RESOURCE_EXHAUSTED where there is no memory
// for fp32 or its runs, and as ChoosePrecision() does where the device is lost. Two models are in
// memory at once.
absl::StatusOr<std::unique_ptr<Model>> LoadInInt8(LoadInPrecision load,
                                                  const PrecisionChoiceOptions& options);

}  // namespace mpsd
