// RunLaneBar: many lanes of one model at once, each answer compared with one lane's answer alone.
//
//   Cold:   all lanes run each task once, from a barrier, before    finds races while code is
//           anything else has run in the process                    compiled and kept.
//   Alone:  lane 0 runs the tasks of all lanes                      gives answers to compare with.
//   Warm:   all lanes run their tasks again and again               finds races while code runs.
//
// Inputs differ between lanes, so that another lane's answer is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "load_tests/bars/bar_inputs.h"
#include "proto/base/clock.h"
#include "worker/execute/trial_run.h"
#include "worker/model/model.h"

namespace mpsd::load {

enum class BarStage { kCold, kAlone, kWarm };

// Bit for bit the same, the same up to rounding (Agree() of worker/execute, for FP32), or
// different.
enum class AnswerMatch { kSameBits, kSameRounded, kWrong };
AnswerMatch MatchAnswers(const KeptOutputs& alone, const KeptOutputs& given);

struct LaneBar {
  uint32_t lanes = 1;
  uint64_t operations = 0;        // warm, in all lanes; 0: as many as the time allows
  int64_t ns_max = 0;             // longest warm stage
  bool has_random_order = false;  // else each lane runs the tasks in turn
  uint64_t seed = 1;
  uint64_t faults_max = 10;          // wrong answers and failures before the lanes stop
  bool lane_on_main_thread = false;  // as a worker's does on mps
  const Clock* clock = Clock::Real();
};

// Runs of one operator or of all, cold and warm.
struct RunCounts {
  uint64_t cold = 0;
  uint64_t warm = 0;
  uint64_t other_bits = 0;  // right, up to rounding
  uint64_t wrong = 0;
  uint64_t failed = 0;

  uint64_t faults() const { return wrong + failed; }
  RunCounts& operator+=(const RunCounts& other);
};

struct LaneBarOutcome {
  std::vector<RunCounts> tasks;  // in the order of the inputs' tasks
  double seconds = 0;            // warm stage of the slowest lane
  double rate = 0;               // warm runs a second: sum over the lanes, each over its time
  std::string first_fault;       // some lane's; empty: none

  RunCounts all() const;
};

// Calls `enter` on lane 0's thread as each stage begins. An error: a lane got no stream, or a task
// fails alone. Called on the main thread; no lane is bound before or after. REQUIRES: `inputs` were
// made for `bar.lanes` lanes.
absl::StatusOr<LaneBarOutcome> RunLaneBar(Model* model, const BarInputs& inputs, const LaneBar& bar,
                                          const std::function<void(BarStage)>& enter);

}  // namespace mpsd::load
