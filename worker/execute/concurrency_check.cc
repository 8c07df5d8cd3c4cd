#include "worker/execute/concurrency_check.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/barrier.h"
#include "worker/execute/trial_run.h"
#include "worker/model/elements.h"

namespace mpsd {
namespace {

// The largest relative difference of two runs that differ only in the order of their sums.
double ToleranceOf(DataType datatype) {
  switch (datatype) {
    case DataType::kFp64:
      return 1e-10;
    case DataType::kFp32:
      return 1e-4;
    case DataType::kFp16:
      return 1e-2;
    case DataType::kBf16:
      return 5e-2;
    default:
      return 0;
  }
}

// The same of a model that computes in less than its outputs show.
double Tolerance(DataType datatype, Precision precision) {
  const double shown = ToleranceOf(datatype);
  if (shown == 0) return 0;
  if (precision == Precision::kBf16) return std::max(shown, ToleranceOf(DataType::kBf16));
  const bool is_half = precision == Precision::kFp16 || precision == Precision::kTf32;
  return is_half ? std::max(shown, ToleranceOf(DataType::kFp16)) : shown;
}

bool Agree(const KeptOutput& a, const KeptOutput& b, Precision precision) {
  if (a.datatype != b.datatype || a.bytes.size() != b.bytes.size()) return false;
  if (a.bytes == b.bytes) return true;
  const double tolerance = Tolerance(a.datatype, precision);
  const size_t element_bytes = ElementBytes(a.datatype);
  if (tolerance == 0 || element_bytes == 0) return false;
  for (size_t at = 0; at < a.bytes.size(); at += element_bytes) {
    const double left = ReadElement(a.datatype, a.bytes.data() + at);
    const double right = ReadElement(b.datatype, b.bytes.data() + at);
    if (std::isnan(left) && std::isnan(right)) continue;
    if (left == right) continue;
    const double scale = std::max({1.0, std::fabs(left), std::fabs(right)});
    if (!(std::fabs(left - right) <= tolerance * scale)) return false;
  }
  return true;
}

bool Agree(const KeptOutputs& a, const KeptOutputs& b, Precision precision) {
  return std::equal(
      a.outputs().begin(), a.outputs().end(), b.outputs().begin(), b.outputs().end(),
      [precision](const auto& left, const auto& right) { return Agree(*left, *right, precision); });
}

// One lane's inputs of a shape, and the outputs that the model gives for them.
class Trial {
 public:
  Trial(const Model& model, TrialShape shape, uint32_t lane)
      : inputs_(model, shape, TrialFill::kPositive, lane + 1), lane_(lane) {}

  absl::Status Run(Model* model, KeptOutputs* sink) const {
    return model->Run(lane_, inputs_.tensors(), inputs_.rows(), sink);
  }

  KeptOutputs cold;      // together with the other lanes, before any other run of the shape
  absl::Status started;  // how that run ended
  KeptOutputs expected;  // alone

 private:
  const TrialInputs inputs_;
  const uint32_t lane_;
};

using Trials = std::vector<std::unique_ptr<Trial>>;

// Fills `expected` of each trial. Runs each lane's inputs twice, to find models that answer at
// random.
absl::Status RunAlone(Model* model, const Trials& trials) {
  for (uint32_t lane = 0; lane < trials.size(); ++lane) {
    if (absl::Status status = model->BindLane(lane); !status.ok()) return status;
    KeptOutputs again;
    absl::Status status = trials[lane]->Run(model, &trials[lane]->expected);
    if (status.ok()) status = trials[lane]->Run(model, &again);
    model->ReleaseLane(lane);
    if (!status.ok()) {
      return absl::UnavailableError(
          absl::StrCat("the lanes cannot be compared: ", status.message()));
    }
    if (!Agree(trials[lane]->expected, again, model->precision())) {
      return absl::UnavailableError(
          "the lanes cannot be compared: the model answers the same inputs differently each time");
    }
  }
  return absl::OkStatus();
}

// Compares what a run in company gave with what the trial gave alone.
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
    if (absl::Status same = Compare(ran, sink, trial, model->precision()); !same.ok()) return same;
  }
  return absl::OkStatus();
}

// Calls `run` for each lane, on a thread that is bound to it. All of them begin at the same time.
// Returns the first error of a lane.
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
    return absl::OkStatus();  // a model that fails alone too is no fault of the lanes
  });
  if (!status.ok()) return status;
  std::thread([&] { status = RunAlone(model, trials); }).join();
  if (!status.ok()) return status;
  for (const std::unique_ptr<Trial>& trial : trials) {
    status = Compare(trial->started, trial->cold, *trial, model->precision());
    if (!status.ok()) return status;
  }
  return Together(model, lanes, options.lane_on_main_thread,
                  [&](uint32_t lane) { return RunRounds(model, *trials[lane], options.clock); });
}

}  // namespace

absl::Status CheckConcurrency(Model* model, uint32_t lanes,
                              const ConcurrencyCheckOptions& options) {
  if (lanes < 2) return absl::OkStatus();
  for (const TrialShape& shape : TrialShapes(model->spec())) {
    if (absl::Status status = CheckShape(model, lanes, shape, options); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace mpsd
