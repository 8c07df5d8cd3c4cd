// InflaterThreads: inflate compressed messages, so that the doors' threads can go on meanwhile.
#pragma once

#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

class Inflater;

// A message that waits for a thread. Owned by its call: it is accept/'s Inflation or door/'s
// BodyInflation. Thread-compatible.
class InflationJob {
 public:
  virtual ~InflationJob() = default;

  // Called once for each Enqueue(), on one of the threads. Whoever the job tells that it is done
  // may enqueue or destroy it before this returns; the threads never touch it afterwards.
  virtual void Run() = 0;
};

// A few threads with one queue of messages. Inflating the largest message takes a tenth of a
// second, in which a thread of a door would answer none of its calls.
//
//   grpc-N                                inflate-N                    grpc-N
//   a compressed message: Enqueue() ──▶   Run(): inflate, alarm ──▶    the tag Inflated
//   http-N                                                             http-N
//   a compressed body: Enqueue() ──▶      Run(): inflate, Resume() ──▶ Resumed()
//
// A call waits in the queue with its message and nothing else. The queue needs no bound of its own:
// open calls and the bytes of arriving messages are bounded. Messages are taken in the order in
// which they came; a large one delays those behind it only while all threads are busy with large
// ones. Owned by the server; outlives the calls. Thread-safe, except for Start().
class InflaterThreads {
 public:
  // `inflater` is for the jobs of gRPC, and outlives the threads.
  explicit InflaterThreads(Inflater* inflater) : inflater_(inflater) {}
  InflaterThreads(const InflaterThreads&) = delete;
  InflaterThreads& operator=(const InflaterThreads&) = delete;
  // Joins the threads. REQUIRES: no job waits; the server destroys it after its last call is gone.
  ~InflaterThreads();

  // Starts `count` threads, named `inflate-N`. Called once.
  void Start(uint32_t count);

  Inflater* inflater() const { return inflater_; }

  // Has a thread run the job, when all jobs that were enqueued before have been taken. Never
  // blocks. REQUIRES: the job lives until Run() is called, and is enqueued once until then.
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
