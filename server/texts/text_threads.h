// TextThreads: threads that encode long texts, so that the threads of calls can go on.
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

// A few threads, and for each tenant a queue of tasks, each of which encodes one request's texts.
// Texts of more than kInlineTextBytes take milliseconds, and texts of limits.text_bytes some
// hundred: a thread of the door would answer none of its calls meanwhile.
//
//   http-N                                   texts-N                            http-N
//   kAwaitsTexts: Enqueue() ── returns ─▶    task: EncodeTexts(), Resume() ─▶   Resumed()
//
// A request waits in the queue with only its message. The queue needs no bound of its own: open
// calls and the bytes of arriving messages are bounded. If nobody awaits a request any more, its
// task ends before the next text. Tenants take turns; one tenant's tasks run in order of arrival.
// So a tenant with many tasks delays another only by its running ones.
//
// Owned by the daemon; outlives the servers and their calls. Thread-safe, except for Start().
class TextThreads {
 public:
  TextThreads() = default;
  TextThreads(const TextThreads&) = delete;
  TextThreads& operator=(const TextThreads&) = delete;
  // Joins the threads. REQUIRES: no task waits; the servers and their calls are gone.
  ~TextThreads();

  // Starts `count` threads, named `texts-N`. Called once, before the first task.
  void Start(uint32_t count);

  // Has a thread run the task, after all earlier tasks of the tenant were taken. Never blocks. The
  // task's request lives on, since it owes its reply. The task's last act gives the request back to
  // its own thread; afterwards the task must not touch it. REQUIRES: Start() was called; tenant <
  // kMaxTenants.
  void Enqueue(uint32_t tenant, std::function<void()> task) ABSL_LOCKS_EXCLUDED(mu_);

  // Tasks that wait or run. A draining daemon waits until there are none, or its time is up.
  size_t pending() const { return pending_.load(std::memory_order_acquire); }

 private:
  void Main() ABSL_LOCKS_EXCLUDED(mu_);
  // The next task of the next tenant that has one. REQUIRES: waiting_count_ > 0.
  std::function<void()> TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::vector<std::thread> threads_;
  std::atomic<size_t> pending_{0};

  absl::Mutex mu_;
  std::array<std::deque<std::function<void()>>, kMaxTenants> waiting_ ABSL_GUARDED_BY(mu_);
  size_t waiting_count_ ABSL_GUARDED_BY(mu_) = 0;  // for all tenants
  uint32_t last_tenant_ ABSL_GUARDED_BY(mu_) = 0;  // tenant whose task was taken last
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
