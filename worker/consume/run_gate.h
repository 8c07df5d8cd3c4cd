// RunGate: lanes run beside each other, but a trim runs alone.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace mpsd {

// A library that gives memory back waits for its device, and on mps for a stream that may belong to
// another lane: no lane may be in a run then. Owned by the worker's main, outlives the lanes.
// Thread-safe.
//
//   open ── Alone() ──▶ closed: no run begins ── the last run ends ──▶ the work ── done ──▶ open
//                         └─────────────────── the wait is over ──────────────────────────▲
class RunGate {
 public:
  // The right to run the model; waits for a trim. `gate` null: memory is never trimmed. Lives on
  // one lane's thread.
  class Run {
   public:
    explicit Run(RunGate* gate) : gate_(gate) {
      if (gate_ != nullptr) gate_->Begin();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() {
      if (gate_ != nullptr) gate_->End();
    }

   private:
    RunGate* const gate_;
  };

  // Does the work while no lane runs the model. Waits at most `wait_ns` for current runs; no other
  // begins meanwhile. False, with nothing done: the runs did not end in time, or another thread is
  // alone. REQUIRES: the calling thread has no Run.
  bool Alone(int64_t wait_ns, absl::FunctionRef<void()> work) {
    if (!Close(wait_ns)) return false;
    work();
    absl::MutexLock lock(&mu_);
    is_closed_ = false;
    return true;
  }

 private:
  void Begin() {
    absl::MutexLock lock(&mu_);
    const auto is_open = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !is_closed_; };
    mu_.Await(absl::Condition(&is_open));
    ++runs_;
  }

  void End() {
    absl::MutexLock lock(&mu_);
    --runs_;
  }

  bool Close(int64_t wait_ns) {
    absl::MutexLock lock(&mu_);
    if (is_closed_) return false;
    is_closed_ = true;
    const auto is_empty = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return runs_ == 0; };
    is_closed_ = mu_.AwaitWithTimeout(absl::Condition(&is_empty), absl::Nanoseconds(wait_ns));
    return is_closed_;
  }

  absl::Mutex mu_;
  uint32_t runs_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;  // a thread is alone, or waits to be
};

}  // namespace mpsd
