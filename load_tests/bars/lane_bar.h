// RunLaneBar: many lanes of one model at once, each answer compared with what one lane gives alone.
//
//   cold    all lanes run each task once, from a barrier, before    what races while code is
//           anything else has run in the process                    compiled and kept
//   alone   lane 0 runs the tasks of all lanes                      the answers to compare with
//   warm    all lanes run their tasks again and again               what races while code runs
//
// A lane keeps its thread and its stream through all three, as a worker's do. Inputs differ from
// lane to lane, so that another lane's answer is a wrong one.
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

// How an answer compares with the one that was given alone: bit for bit the same, the same up to
// rounding (Agree() of worker/execute, for FP32), or another one.
enum class AnswerMatch { kSameBits, kSameRounded, kWrong };
AnswerMatch MatchAnswers(const KeptOutputs& alone, const KeptOutputs& given);

struct LaneBar {
  uint32_t lanes = 1;
  uint64_t operations = 0;           // of all lanes together, warm; 0: as many as the time allows
  int64_t ns_max = 0;                // of the warm stage
  bool has_random_order = false;     // else each lane runs the tasks in turn
  uint64_t seed = 1;                 // of that order
  uint64_t faults_max = 10;          // wrong answers and failures, after which the lanes stop
  bool lane_on_main_thread = false;  // lane 0 runs on the calling thread, as a worker's does on mps
  const Clock* clock = Clock::Real();
};

// What became of the runs of one operator or of all, cold and warm.
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
  double seconds = 0;            // of the warm stage, of the lane that took longest
  double rate = 0;               // warm runs a second, of all lanes, each over its own time
  std::string first_fault;       // of some lane; empty where there is none

  RunCounts all() const;
};

// Runs the bar, and calls `enter` on lane 0's thread as each stage begins; the warm stage begins
// when that call returns. An error says that a lane got no stream, or that a task fails alone, so
// that nothing can be compared. Called on the main thread, with no lane bound; afterwards none is.
// REQUIRES: `inputs` are those of so many lanes.
absl::StatusOr<LaneBarOutcome> RunLaneBar(Model* model, const BarInputs& inputs, const LaneBar& bar,
                                          const std::function<void(BarStage)>& enter);

}  // namespace mpsd::load
