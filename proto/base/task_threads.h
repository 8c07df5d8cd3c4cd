// TaskThreads: run what would keep a thread of the door from its calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/limits.h"

namespace mpsd {

// A queue of tasks for each tenant. Encoding long texts or inflating the largest message takes a
// tenth of a second or more:
//
//   http-N                           texts-N, inflate-N                http-N
//   a long text: Enqueue() ──▶       task: encode, Resume() ──▶        Resumed()
//
// The queue needs no bound: open calls and arriving bytes are bounded. Tenants take turns, and one
// tenant's tasks run in order, so a tenant delays others only by running tasks. A further thread
// starts when a task waits and no thread is idle.
//
// Owned by the daemon; outlives the servers and their calls. Thread-safe, except for Start().
class TaskThreads {
 public:
  TaskThreads() = default;
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;
  // Joins the threads. REQUIRES: no task waits; the servers and their calls are gone.
  ~TaskThreads();

  // Starts at most `most` threads, named `name-N`. Called once, before the first task.
  void Start(std::string name, uint32_t most) ABSL_LOCKS_EXCLUDED(mu_);

  // A task's last act may give its object back to the object's own thread: the threads never touch
  // the object afterwards. REQUIRES: Start() was called; tenant < kMaxTenants.
  void Enqueue(uint32_t tenant, std::function<void()> task) ABSL_LOCKS_EXCLUDED(mu_);

  // Tasks that wait or run. A draining daemon waits until there are none, or its time is up.
  size_t pending() const { return pending_.load(std::memory_order_acquire); }

 private:
  void Main() ABSL_LOCKS_EXCLUDED(mu_);
  void StartOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Tenants take turns. REQUIRES: waiting_count_ > 0.
  std::function<void()> TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::string name_;
  uint32_t most_ = 0;
  std::atomic<size_t> pending_{0};

  absl::Mutex mu_;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  size_t idle_count_ ABSL_GUARDED_BY(mu_) = 0;  // threads without a task
  std::array<std::deque<std::function<void()>>, kMaxTenants> waiting_ ABSL_GUARDED_BY(mu_);
  size_t waiting_count_ ABSL_GUARDED_BY(mu_) = 0;  // tasks of all tenants
  uint32_t last_tenant_ ABSL_GUARDED_BY(mu_) = 0;  // tenant whose task was taken last
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
