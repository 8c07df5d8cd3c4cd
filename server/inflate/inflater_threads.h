// InflaterThreads: where compressed messages are inflated, while the queues' threads go on.
#pragma once

#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/inflate/inflater.h"

namespace mpsd {

// A message that waits for its turn. Owned by its call, which makes it on its own thread.
// Thread-compatible.
class InflationJob {
 public:
  virtual ~InflationJob() = default;

  // Called once, by one of the threads. When this returns the job may be gone.
  virtual void Run(Inflater* inflater) = 0;
};

// Thread-safe, but for Start(). Owned by the server, it outlives the calls. To inflate a message of
// the largest size takes a tenth of a second, in which no call of a queue's thread would be
// answered. What waits is bounded by the calls that may be open, and by what their compressed
// messages may take.
class InflaterThreads {
 public:
  explicit InflaterThreads(Inflater* inflater) : inflater_(inflater) {}
  InflaterThreads(const InflaterThreads&) = delete;
  InflaterThreads& operator=(const InflaterThreads&) = delete;
  // REQUIRES: nothing waits.
  ~InflaterThreads();

  // Starts so many threads, `inflate-N`. Once.
  void Start(uint32_t count);

  // Runs it when its turn comes, in the order in which they came.
  void Enqueue(InflationJob* job) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Main() ABSL_LOCKS_EXCLUDED(mu_);

  Inflater* const inflater_;
  std::vector<std::thread> threads_;

  absl::Mutex mu_;
  std::deque<InflationJob*> waiting_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
