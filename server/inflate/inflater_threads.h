// InflaterThreads: inflate and compress messages while the door's threads continue.
#pragma once

#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// A message that waits for a thread. Owned by a call: MessageInflation and AnswerDeflation of
// `door`.
// Thread-compatible.
class CompressionJob {
 public:
  virtual ~CompressionJob() = default;

  // Called once per Enqueue(), on one of the threads. Once told that the job is done, its owner may
  // enqueue or destroy it before this returns; the threads never touch it afterwards.
  virtual void Run() = 0;
};

// A few threads with one queue of messages. Inflating the largest message takes a tenth of a
// second, during which a door's thread would answer none of its calls.
//
//   http-N                                inflate-N                    http-N
//   a compressed message: Enqueue() ──▶   Run(): inflate, Resume() ──▶ Resumed()
//
// The queue needs no bound of its own, because open calls and the bytes of arriving messages are
// bounded. A large message delays later ones only while all threads are busy with large ones. Owned
// by the DoorBounds; outlives the calls. Thread-safe, except for Start().
class InflaterThreads {
 public:
  InflaterThreads() = default;
  InflaterThreads(const InflaterThreads&) = delete;
  InflaterThreads& operator=(const InflaterThreads&) = delete;
  // Joins the threads. REQUIRES: no job waits; its owner destroys it after the last call is gone.
  ~InflaterThreads();

  // Starts `count` threads, named `inflate-N`. Called once.
  void Start(uint32_t count);

  // Has a thread run the job, after all jobs enqueued before have been taken. Never blocks.
  // REQUIRES: the job lives until Run() is called, and is enqueued only once until then.
  void Enqueue(CompressionJob* job) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Main() ABSL_LOCKS_EXCLUDED(mu_);

  std::vector<std::thread> threads_;

  absl::Mutex mu_;
  std::deque<CompressionJob*> waiting_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
