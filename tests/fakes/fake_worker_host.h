// FakeWorkerHost: a host whose worker processes, memory and events are the test's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/core_binding.h"
#include "server/supervise/process/worker_host.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_worker_process.h"

namespace mpsd {

// A supervisor's thread that waits here stands still until the test lets it go on with Step(). So
// the test may touch the processes between two steps without a lock. Thread-safe in that sense: the
// test's thread and the supervisor's take turns.
class FakeWorkerHost final : public WorkerHost {
 public:
  explicit FakeWorkerHost(FakeClock* clock) : clock_(clock) {}

  // ---- the script ----
  absl::Status open_status;
  absl::Status spawn_status;
  uint64_t memory_kills = 0;
  uint64_t available_bytes = 1ULL << 40;
  std::vector<std::string> journal;  // "spawn N", "kill N", "reap N", and what the test adds

  // Lets the supervisor's thread handle what is ready, and blocks until it waits again.
  void Step() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&waits_));
    waits_ = false;
    may_go_ = true;
    mu_.Await(absl::Condition(&waits_));
  }

  // From the next Wake() on the thread runs without steps, and each Wait() moves the clock.
  void RunFreelyAtNextWake() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    free_at_wake_ = true;
  }

  // ---- what was done ----

  // The processes in the order in which they were spawned; their numbers count from 1.
  FakeWorkerProcess& process(size_t number) { return *processes_.at(number - 1); }
  FakeWorkerProcess& last() { return *processes_.back(); }
  size_t spawned() const { return processes_.size(); }
  const WorkerProcessOptions& last_options() const { return last_options_; }
  // The cores that the last process inherited.
  const std::vector<uint32_t>& last_cores() const { return last_cores_; }
  int wakes() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return wakes_;
  }
  int64_t last_timeout_ns() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return last_timeout_ns_;
  }

  // The tokens that are ready now.
  std::vector<uint64_t> Ready() const {
    std::vector<uint64_t> tokens;
    for (const auto& process : processes_) {
      const std::vector<uint64_t> its = process->Tokens();
      tokens.insert(tokens.end(), its.begin(), its.end());
    }
    return tokens;
  }

  // ---- WorkerHost ----
  absl::Status Open() override { return open_status; }

  absl::StatusOr<std::unique_ptr<WorkerProcess>> Spawn(const WorkerProcessOptions& options,
                                                       uint64_t first_token) override {
    if (!spawn_status.ok()) return spawn_status;
    last_options_ = options;
    last_cores_ = CoreBinding::OfThread();
    const int number = static_cast<int>(processes_.size()) + 1;
    journal.push_back(absl::StrCat("spawn ", number));
    processes_.push_back(std::make_unique<FakeWorkerProcess>(number, first_token, &journal));
    return processes_.back()->MakeHandle();
  }

  std::vector<uint64_t> Wait(int64_t timeout_ns) override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    last_timeout_ns_ = timeout_ns;
    waits_ = true;
    const auto may_go = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return may_go_ || free_; };
    mu_.Await(absl::Condition(&may_go));
    may_go_ = false;
    const std::vector<uint64_t> tokens = Ready();
    if (free_) clock_->Advance(std::max<int64_t>(timeout_ns, kNsPerMs));
    return tokens;
  }

  void Wake() override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    ++wakes_;
    free_ = free_at_wake_;
  }

  uint64_t OutOfMemoryKills() const override { return memory_kills; }
  uint64_t AvailableMemoryBytes() const override { return available_bytes; }

 private:
  FakeClock* const clock_;
  std::deque<std::unique_ptr<FakeWorkerProcess>> processes_;
  WorkerProcessOptions last_options_;
  std::vector<uint32_t> last_cores_;

  mutable absl::Mutex mu_;
  bool waits_ ABSL_GUARDED_BY(mu_) = false;
  bool may_go_ ABSL_GUARDED_BY(mu_) = false;
  bool free_ ABSL_GUARDED_BY(mu_) = false;
  bool free_at_wake_ ABSL_GUARDED_BY(mu_) = false;
  int wakes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t last_timeout_ns_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
