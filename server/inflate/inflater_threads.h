// InflaterThreads: inflate compressed messages, so that the gRPC threads can go on meanwhile.
#pragma once

#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/inflate/inflater.h"

namespace mpsd {

// A message that waits for a thread. Owned by its call. Thread-compatible.
class InflationJob {
 public:
  virtual ~InflationJob() = default;

  // Called once, on one of the threads. The job may be destroyed before this returns, and is never
  // used afterwards.
  virtual void Run(Inflater* inflater) = 0;
};

// A few threads with one queue of messages. Inflating the largest message takes a tenth of a
// second, in which a gRPC thread would answer none of its calls. The queue needs no bound of its
// own: open calls and the bytes of arriving messages are bounded. Owned by the server; outlives the
// calls. Thread-safe, except for Start().
class InflaterThreads {
 public:
  explicit InflaterThreads(Inflater* inflater) : inflater_(inflater) {}
  InflaterThreads(const InflaterThreads&) = delete;
  InflaterThreads& operator=(const InflaterThreads&) = delete;
  // Joins the threads. REQUIRES: no job waits.
  ~InflaterThreads();

  // Starts `count` threads, named `inflate-N`. Called once.
  void Start(uint32_t count);

  // Has a thread run the job after all jobs that were enqueued before. The job lives until Run() is
  // called.
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
