// TextThreads: encode long texts, so that the threads of calls can go on meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/limits.h"

namespace mpsd {

// A few threads, and a queue of tasks for each tenant, each of which encodes the texts of one
// request. Texts of more than kInlineTextBytes take milliseconds, and those of limits.text_bytes
// some hundred, in which a queue thread would answer none of its calls.
//
//   grpc-N                                   texts-N                            grpc-N
//   kAwaitsTexts: Enqueue() ── returns ─▶    task: EncodeTexts(), Resume() ─▶   Resumed()
//
// A request waits in the queue with its message and nothing else. The queue needs no bound of its
// own: open calls and the bytes of arriving messages are bounded. A task whose request nobody
// awaits any more ends before its next text. Tenants are taken in turn, the tasks of one in the
// order in which they came: a tenant with many tasks holds up another for those that run, not for
// those that wait.
//
// Owned by the daemon; outlives the servers and their calls. Thread-safe, except for Start().
class TextThreads {
 public:
  TextThreads() = default;
  TextThreads(const TextThreads&) = delete;
  TextThreads& operator=(const TextThreads&) = delete;
  // Joins the threads. REQUIRES: no task waits; the servers are gone by then, and their calls.
  ~TextThreads();

  // Starts `count` threads, named `texts-N`. Called once, before the first task.
  void Start(uint32_t count);

  // Has a thread run the task, when all tasks of the tenant that were enqueued before have been
  // taken. Never blocks. The request that the task points to lives on, since it owes its reply; the
  // task's last act gives the request back to its own thread, and the task touches nothing of it
  // afterwards. REQUIRES: Start() was called; tenant < kMaxTenants.
  void Enqueue(uint32_t tenant, std::function<void()> task) ABSL_LOCKS_EXCLUDED(mu_);

  // Tasks that wait or run. A daemon that drains waits until there are none, or its time is up.
  size_t pending() const { return pending_.load(std::memory_order_acquire); }

 private:
  void Main() ABSL_LOCKS_EXCLUDED(mu_);
  // The next task of the next tenant that has one. REQUIRES: waiting_count_ > 0.
  std::function<void()> TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::vector<std::thread> threads_;
  std::atomic<size_t> pending_{0};

  absl::Mutex mu_;
  std::array<std::deque<std::function<void()>>, kMaxTenants> waiting_ ABSL_GUARDED_BY(mu_);
  size_t waiting_count_ ABSL_GUARDED_BY(mu_) = 0;  // of all tenants
  uint32_t last_tenant_ ABSL_GUARDED_BY(mu_) = 0;  // whose task was taken last
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
