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

// A capability that one thread has: the supervisor's, a door thread's, a lane's. An object whose
// members live on one thread owns a role. The members are ABSL_GUARDED_BY the role, and functions
// for that thread alone are ABSL_EXCLUSIVE_LOCKS_REQUIRED(role). Each of the thread's entry points
// begins with Check(), which costs one load. With -Wthread-safety, clang refuses other code that
// touches the members. A call on another thread ends the process.
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

  // Called by the bound thread before it ends. REQUIRES: the calling thread is bound, or none is.
  void Unbind() {
    Check();
    holder_.store(std::thread::id(), std::memory_order_relaxed);
  }

  // Ends the process if another thread is bound. REQUIRES: the calling thread is bound, or no
  // thread is.
  void Check() const ABSL_ASSERT_EXCLUSIVE_LOCK() {
    const std::thread::id holder = holder_.load(std::memory_order_relaxed);
    MPSD_CHECK(holder == std::thread::id() || holder == std::this_thread::get_id());
  }

 private:
  std::atomic<std::thread::id> holder_{};
};

}  // namespace mpsd
