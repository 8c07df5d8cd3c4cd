// ThreadRole: "this lives on one thread", said in types instead of in comments.
//
//   class Board {
//     void Tick() { role_.Check(); ++ticks_; }       // an entry point of the thread
//     ThreadRole role_;
//     int ticks_ ABSL_GUARDED_BY(role_) = 0;
//   };
#pragma once

#include <atomic>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "proto/base/check.h"

namespace mpsd {

// A thread's capability. Members of the thread are ABSL_GUARDED_BY the role, and its functions
// ABSL_EXCLUSIVE_LOCKS_REQUIRED(role). Each entry point begins with Check(), which costs one load
// and ends the process on another thread. clang's -Wthread-safety refuses other code.
//
// Invariants:
//   1. A role is bound to at most one thread at a time.
//   2. While no thread is bound, every thread passes Check(): objects are built before their thread
//      runs and destroyed after it was joined.
//
// Thread-safe.
class ABSL_LOCKABLE ThreadRole {
 public:
  ThreadRole() = default;
  ThreadRole(const ThreadRole&) = delete;
  ThreadRole& operator=(const ThreadRole&) = delete;

  // Called by the thread that gets the role. REQUIRES: no thread is bound.
  void Bind() {
    MPSD_CHECK(holder_.load(std::memory_order_relaxed) == std::thread::id());
    holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }

  // Called before the thread ends. REQUIRES: this thread is bound, or none is.
  void Unbind() {
    Check();
    holder_.store(std::thread::id(), std::memory_order_relaxed);
  }

  // REQUIRES: this thread is bound, or none is.
  void Check() const ABSL_ASSERT_EXCLUSIVE_LOCK() {
    const std::thread::id holder = holder_.load(std::memory_order_relaxed);
    MPSD_CHECK(holder == std::thread::id() || holder == std::this_thread::get_id());
  }

 private:
  std::atomic<std::thread::id> holder_{};
};

}  // namespace mpsd
