// FakeWorkerOwner: the group of one worker, which does what a test says.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "server/supervise/memory_budget.h"
#include "server/supervise/supervised_worker.h"
#include "server/supervise/worker_owner.h"

namespace mpsd {

// Attaches whatever has loaded. Lives on the test's thread.
class FakeWorkerOwner final : public WorkerOwner {
 public:
  FakeWorkerOwner(SupervisedModel model, MemoryBudget* budget)
      : model_(std::move(model)), budget_(budget) {}

  const SupervisedModel& model() const override { return model_; }
  SlabAnnouncer* slabs() override { return slabs_.get(); }

  absl::Status OnLoaded(SupervisedWorker* worker, const LoadReport& report) override {
    if (!load_status.ok()) return load_status;
    model_.served->spec = report.spec;
    MakeSlabs();
    worker->TakeLanes(report);
    return worker->AttachSegments();
  }
  absl::Status OnWeights(SupervisedWorker* worker, const WeightsTold&, UniqueFd) override {
    return worker->AttachSegments();
  }
  void OnServing(SupervisedWorker*, int64_t start_took_ns) override {
    starts_took_ns.push_back(start_took_ns);
  }
  void OnDeath(SupervisedWorker* worker, const WorkerDeath& death) override {
    MPSD_CHECK(worker->state() == WorkerState::kWaiting);
    deaths.push_back(death);
    if (on_death) on_death();
  }
  absl::Status TakeMemory(uint64_t bytes, const std::string& what) override {
    return budget_->Take(bytes, what);
  }
  absl::Status NoSharedMemory(const absl::Status& why) override { return why; }

  // The pool's first segment, as the first load makes it.
  void MakeSlabs() {
    if (slabs_ != nullptr) return;
    absl::StatusOr<OwnedSegment> segment =
        OwnedSegment::Create(SegmentKind::kSlabs, 64 * platform::PageBytes(), 0);
    MPSD_CHECK(segment.ok());
    model_.pool->memory()->Add(*std::move(segment));
    slabs_ = std::make_unique<SlabAnnouncer>(model_.pool, budget_, model_.served->name);
  }

  SupervisedModel* mutable_model() { return &model_; }

  absl::Status load_status;
  std::function<void()> on_death;
  std::vector<int64_t> starts_took_ns;
  std::vector<WorkerDeath> deaths;

 private:
  SupervisedModel model_;
  MemoryBudget* const budget_;
  std::unique_ptr<SlabAnnouncer> slabs_;
};

}  // namespace mpsd
