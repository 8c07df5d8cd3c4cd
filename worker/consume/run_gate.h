// RunGate: lanes run beside each other, and nothing runs beside a trim.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// Stands around each run of a worker's lanes. A library that gives memory back waits for its
// device, and on mps for a stream that may be another lane's: no lane is in a run then. Without a
// trim lanes never wait here. Owned by the worker's main, outlives the lanes. Thread-safe.
class RunGate {
 public:
  // The right to run the model, while it lives. The constructor waits for a trim. `gate` null: the
  // model's memory is never trimmed. Made and destroyed by one lane's thread.
  class Run {
   public:
    explicit Run(RunGate* gate) ABSL_NO_THREAD_SAFETY_ANALYSIS : gate_(gate) {
      if (gate_ != nullptr) gate_->runs_.ReaderLock();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      if (gate_ != nullptr) gate_->runs_.ReaderUnlock();
    }

   private:
    RunGate* const gate_;
  };

  // Does the work while no lane runs the model. Unless it `may_wait` for the runs that go on, it
  // may do nothing, and returns false. REQUIRES: the calling thread has no Run.
  bool Alone(bool may_wait, absl::FunctionRef<void()> work) {
    if (may_wait) {
      runs_.Lock();
    } else if (!runs_.TryLock()) {
      return false;
    }
    work();
    runs_.Unlock();
    return true;
  }

 private:
  absl::Mutex runs_;  // shared by runs
};

}  // namespace mpsd
