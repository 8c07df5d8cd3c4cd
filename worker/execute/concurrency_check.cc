#include "worker/execute/concurrency_check.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/barrier.h"
#include "worker/execute/same_answers.h"
#include "worker/execute/trial_bound.h"
#include "worker/execute/trial_run.h"

namespace mpsd {
namespace {

class Trial {
 public:
  Trial(const Model& model, TrialShape shape, uint32_t lane)
      : inputs_(model, shape, TrialFill::kPositive, lane + 1), lane_(lane) {}

  absl::Status Run(Model* model, KeptOutputs* sink) const {
    return model->Run(lane_, inputs_.tensors(), inputs_.rows(), sink);
  }

  KeptOutputs cold;      // from the first run of the shape, beside the other lanes
  absl::Status started;  // status of the cold run
  KeptOutputs expected;  // from the run alone

 private:
  const TrialInputs inputs_;
  const uint32_t lane_;
};

using Trials = std::vector<std::unique_ptr<Trial>>;

absl::Status CannotCompare(const absl::Status& ran) {
  return absl::UnavailableError(absl::StrCat("the lanes cannot be compared: ", ran.message()));
}

// Fills `expected` of each trial. Two runs of equal inputs find models with random answers.
absl::Status RunAlone(Model* model, const Trials& trials) {
  for (uint32_t lane = 0; lane < trials.size(); ++lane) {
    if (absl::Status status = model->BindLane(lane); !status.ok()) return status;
    KeptOutputs again;
    absl::Status status = trials[lane]->Run(model, &trials[lane]->expected);
    if (status.ok()) status = trials[lane]->Run(model, &again);
    model->ReleaseLane(lane);
    if (!status.ok()) return CannotCompare(status);
    if (!Agree(trials[lane]->expected, again, model->traits().precision)) {
      return absl::UnavailableError(
          "the lanes cannot be compared: the model answers the same inputs differently each time");
    }
  }
  return absl::OkStatus();
}

absl::Status Compare(const absl::Status& ran, const KeptOutputs& given, const Trial& trial,
                     Precision precision) {
  if (!ran.ok()) {
    return absl::AbortedError(
        absl::StrCat("lanes that run at the same time fail: ", ran.message()));
  }
  if (Agree(trial.expected, given, precision)) return absl::OkStatus();
  return absl::AbortedError("lanes that run at the same time give other answers than alone");
}

absl::Status RunRounds(Model* model, const Trial& trial, const Clock* clock) {
  const int64_t until_ns = clock->NowNs() + kConcurrencyRoundsNs;
  for (int round = 0; round < kConcurrencyRounds; ++round) {
    if (round >= kFewestConcurrencyRounds && clock->NowNs() >= until_ns) break;
    KeptOutputs sink;
    const absl::Status ran = trial.Run(model, &sink);
    if (absl::Status same = Compare(ran, sink, trial, model->traits().precision); !same.ok())
      return same;
  }
  return absl::OkStatus();
}

// Calls `run` for each lane at the same time, on a thread bound to the lane. Returns the first
// error.
absl::Status Together(Model* model, uint32_t lanes, bool lane_on_main_thread,
                      absl::FunctionRef<absl::Status(uint32_t lane)> run) {
  std::vector<absl::Status> outcomes(lanes);
  auto* begin = new absl::Barrier(static_cast<int>(lanes));
  const auto work = [&, begin](uint32_t lane) {
    const absl::Status bound = model->BindLane(lane);
    if (begin->Block()) delete begin;
    outcomes[lane] = bound.ok() ? run(lane) : bound;
    if (bound.ok()) model->ReleaseLane(lane);
  };
  std::vector<std::thread> threads;
  for (uint32_t lane = lane_on_main_thread ? 1 : 0; lane < lanes; ++lane) {
    threads.emplace_back(work, lane);
  }
  if (lane_on_main_thread) work(0);
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& outcome : outcomes) {
    if (!outcome.ok()) return outcome;
  }
  return absl::OkStatus();
}

absl::Status CheckShape(Model* model, uint32_t lanes, TrialShape shape,
                        const ConcurrencyCheckOptions& options) {
  Trials trials;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    trials.push_back(std::make_unique<Trial>(*model, shape, lane));
  }
  absl::Status status = Together(model, lanes, options.lane_on_main_thread, [&](uint32_t lane) {
    trials[lane]->started = trials[lane]->Run(model, &trials[lane]->cold);
    return absl::OkStatus();  // a failure alone too is not the lanes' fault
  });
  if (!status.ok()) return status;
  std::thread([&] { status = RunAlone(model, trials); }).join();
  if (!status.ok()) return status;
  for (const std::unique_ptr<Trial>& trial : trials) {
    status = Compare(trial->started, trial->cold, *trial, model->traits().precision);
    if (!status.ok()) return status;
  }
  return Together(model, lanes, options.lane_on_main_thread,
                  [&](uint32_t lane) { return RunRounds(model, *trials[lane], options.clock); });
}

absl::StatusOr<int64_t> TimeOf(Model* model, TrialShape shape, const Clock* clock) {
  const Trial trial(*model, shape, /*lane=*/0);
  int64_t took_ns = 0;
  absl::Status ran;
  const auto run = [&](uint32_t) {
    KeptOutputs sink;
    const int64_t begin_ns = clock->NowNs();
    ran = trial.Run(model, &sink);
    took_ns = clock->NowNs() - begin_ns;
    return absl::OkStatus();
  };
  if (absl::Status status = Together(model, 1, false, run); !status.ok()) return status;
  if (!ran.ok()) return CannotCompare(ran);
  return took_ns;
}

}  // namespace

absl::Status CheckConcurrency(Model* model, uint32_t lanes,
                              const ConcurrencyCheckOptions& options) {
  if (lanes < 2) return absl::OkStatus();
  const std::vector<TrialShape> shapes = TrialShapes(model->spec());
  const TrialShape small = shapes.front();
  absl::Status status = CheckShape(model, lanes, small, options);
  if (!status.ok() || shapes.back() == small) return status;
  const absl::StatusOr<TrialShape> large =
      LargestInTime(small, shapes.back(), kComparedRunNs,
                    [&](const TrialShape& shape) { return TimeOf(model, shape, options.clock); });
  if (!large.ok()) return large.status();
  return *large == small ? status : CheckShape(model, lanes, *large, options);
}

uint32_t LanesAfter(const absl::Status& check, uint32_t lanes, bool is_needed) {
  const bool is_trusted = check.ok() || (!is_needed && !absl::IsAborted(check));
  return is_trusted ? lanes : 1;
}

}  // namespace mpsd
