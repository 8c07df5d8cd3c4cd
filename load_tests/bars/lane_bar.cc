#include "load_tests/bars/lane_bar.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "worker/execute/same_answers.h"

namespace mpsd::load {
namespace {

class TaskOrder {
 public:
  TaskOrder(const LaneBar& bar, uint32_t lane, size_t tasks)
      : is_random_(bar.has_random_order), random_(bar.seed + lane), task_(0, tasks - 1) {}

  size_t Next() {
    if (is_random_) return task_(random_);
    const size_t task = next_;
    next_ = next_ == task_.max() ? 0 : next_ + 1;
    return task;
  }

 private:
  const bool is_random_;
  std::mt19937_64 random_;
  std::uniform_int_distribution<size_t> task_;
  size_t next_ = 0;
};

// Belongs to the lane's thread; others read it after a barrier.
struct LanePart {
  std::vector<std::unique_ptr<KeptOutputs>> alone;  // by task
  std::vector<std::unique_ptr<KeptOutputs>> cold;
  std::vector<absl::Status> cold_status;
  std::vector<RunCounts> tasks;
  int64_t warm_ns = 0;
  std::string first_fault;
};

class BarRun {
 public:
  BarRun(Model* model, const BarInputs& inputs, const LaneBar& bar,
         const std::function<void(BarStage)>& enter)
      : model_(model),
        inputs_(inputs),
        bar_(bar),
        enter_(enter),
        parts_(bar.lanes),
        together_(static_cast<std::ptrdiff_t>(bar.lanes)) {
    for (LanePart& part : parts_) part.tasks.resize(inputs.tasks().size());
  }

  absl::StatusOr<LaneBarOutcome> Run() {
    std::vector<std::thread> threads;
    for (uint32_t lane = bar_.lane_on_main_thread ? 1 : 0; lane < bar_.lanes; ++lane) {
      threads.emplace_back([this, lane] { RunLane(lane); });
    }
    if (bar_.lane_on_main_thread) RunLane(0);
    for (std::thread& thread : threads) thread.join();
    if (!error_.ok()) return error_;
    return Outcome();
  }

 private:
  void RunLane(uint32_t lane) {
    const absl::Status bound = model_->BindLane(lane);
    if (!bound.ok()) unbound_ = true;
    if (lane == 0) enter_(BarStage::kCold);
    together_.arrive_and_wait();
    if (!unbound_) RunStages(lane);
    together_.arrive_and_wait();
    if (bound.ok()) {
      model_->ReleaseLane(lane);
    } else if (!error_told_.exchange(true)) {
      error_ = bound;
    }
  }

  void RunStages(uint32_t lane) {
    RunCold(lane);
    together_.arrive_and_wait();
    if (lane == 0) {
      enter_(BarStage::kAlone);
      error_ = RunAlone();
      if (error_.ok()) enter_(BarStage::kWarm);
    }
    together_.arrive_and_wait();
    if (!error_.ok()) return;
    CheckCold(lane);
    RunWarm(lane);
  }

  void RunCold(uint32_t lane) {
    LanePart& part = parts_[lane];
    for (size_t task = 0; task < inputs_.tasks().size(); ++task) {
      part.cold.push_back(std::make_unique<KeptOutputs>());
      together_.arrive_and_wait();
      part.cold_status.push_back(RunTask(lane, lane, task, part.cold.back().get()));
    }
  }

  absl::Status RunAlone() {
    for (uint32_t lane = 0; lane < bar_.lanes; ++lane) {
      for (size_t task = 0; task < inputs_.tasks().size(); ++task) {
        auto answer = std::make_unique<KeptOutputs>();
        const absl::Status status = RunTask(/*lane=*/0, lane, task, answer.get());
        if (!status.ok()) {
          return absl::Status(status.code(), absl::StrCat(Describe(inputs_.tasks()[task]),
                                                          " fails alone: ", status.message()));
        }
        parts_[lane].alone.push_back(std::move(answer));
      }
    }
    return absl::OkStatus();
  }

  void CheckCold(uint32_t lane) {
    LanePart& part = parts_[lane];
    for (size_t task = 0; task < part.cold.size(); ++task) {
      ++part.tasks[task].cold;
      Count(lane, task, part.cold_status[task], *part.cold[task], "cold");
    }
    part.cold.clear();
  }

  void RunWarm(uint32_t lane) {
    LanePart& part = parts_[lane];
    TaskOrder order(bar_, lane, inputs_.tasks().size());
    const int64_t begin_ns = bar_.clock->NowNs();
    const uint64_t share = bar_.operations / bar_.lanes + (lane < bar_.operations % bar_.lanes);
    for (uint64_t run = 0; bar_.operations == 0 || run < share; ++run) {
      if (faults_ >= bar_.faults_max || bar_.clock->NowNs() - begin_ns >= bar_.ns_max) break;
      const size_t task = order.Next();
      KeptOutputs answer;
      const absl::Status status = RunTask(lane, lane, task, &answer);
      ++part.tasks[task].warm;
      Count(lane, task, status, answer, "warm");
    }
    part.warm_ns = bar_.clock->NowNs() - begin_ns;
  }

  absl::Status RunTask(uint32_t lane, uint32_t lane_of_inputs, size_t task, KeptOutputs* answer) {
    return model_->Run(lane, inputs_.Of(lane_of_inputs, task), /*row_count=*/1, answer);
  }

  void Count(uint32_t lane, size_t task, const absl::Status& status, const KeptOutputs& answer,
             absl::string_view stage) {
    RunCounts& counts = parts_[lane].tasks[task];
    if (!status.ok()) {
      ++counts.failed;
      return NoteFault(lane, task, stage, status.message());
    }
    switch (MatchAnswers(*parts_[lane].alone[task], answer)) {
      case AnswerMatch::kSameBits:
        return;
      case AnswerMatch::kSameRounded:
        ++counts.other_bits;
        return;
      case AnswerMatch::kWrong:
        ++counts.wrong;
        return NoteFault(lane, task, stage, "another answer than alone");
    }
  }

  void NoteFault(uint32_t lane, size_t task, absl::string_view stage, absl::string_view what) {
    ++faults_;
    LanePart& part = parts_[lane];
    if (!part.first_fault.empty()) return;
    part.first_fault =
        absl::StrCat("lane ", lane, ", ", stage, ", ", Describe(inputs_.tasks()[task]), ": ", what);
  }

  LaneBarOutcome Outcome() const {
    LaneBarOutcome outcome;
    outcome.tasks.resize(inputs_.tasks().size());
    for (const LanePart& part : parts_) {
      uint64_t warm = 0;
      for (size_t task = 0; task < outcome.tasks.size(); ++task) {
        outcome.tasks[task] += part.tasks[task];
        warm += part.tasks[task].warm;
      }
      const double seconds = static_cast<double>(part.warm_ns) / kNsPerSecond;
      outcome.seconds = std::max(outcome.seconds, seconds);
      if (seconds > 0) outcome.rate += static_cast<double>(warm) / seconds;
      if (outcome.first_fault.empty()) outcome.first_fault = part.first_fault;
    }
    return outcome;
  }

  Model* const model_;
  const BarInputs& inputs_;
  const LaneBar bar_;
  const std::function<void(BarStage)>& enter_;
  std::vector<LanePart> parts_;
  std::barrier<> together_;
  std::atomic<uint64_t> faults_{0};
  std::atomic<bool> unbound_{false};
  std::atomic<bool> error_told_{false};
  absl::Status error_;  // written by one thread
};

}  // namespace

AnswerMatch MatchAnswers(const KeptOutputs& alone, const KeptOutputs& given) {
  const bool same_bits =
      std::equal(alone.outputs().begin(), alone.outputs().end(), given.outputs().begin(),
                 given.outputs().end(), [](const auto& left, const auto& right) {
                   return left->datatype == right->datatype && left->bytes == right->bytes;
                 });
  if (same_bits && alone.failed_rows() == given.failed_rows()) return AnswerMatch::kSameBits;
  return Agree(alone, given, Precision::kFp32) ? AnswerMatch::kSameRounded : AnswerMatch::kWrong;
}

RunCounts& RunCounts::operator+=(const RunCounts& other) {
  cold += other.cold;
  warm += other.warm;
  other_bits += other.other_bits;
  wrong += other.wrong;
  failed += other.failed;
  return *this;
}

RunCounts LaneBarOutcome::all() const {
  RunCounts sum;
  for (const RunCounts& counts : tasks) sum += counts;
  return sum;
}

absl::StatusOr<LaneBarOutcome> RunLaneBar(Model* model, const BarInputs& inputs, const LaneBar& bar,
                                          const std::function<void(BarStage)>& enter) {
  return BarRun(model, inputs, bar, enter).Run();
}

}  // namespace mpsd::load
