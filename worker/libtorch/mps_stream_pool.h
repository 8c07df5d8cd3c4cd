// MPSStreamPool: the streams of mps in a patched libtorch.
//
// patch_libtorch.py copies this file into libtorch and has MPSStream.h include it. A worker
// recognizes a patched libtorch by the symbol of instance() (runtime_detection.h).
#pragma once

#include "c10/core/Stream.h"
#include "c10/macros/Export.h"
#include "worker/libtorch/stream_pool.h"

namespace at::mps {

class MPSStream;

// An mpsd::StreamPool. A thread gets an error of c10 if all 31 streams are taken. Thread-safe.
//
// The process reads two variables of the environment once:
//
//   MPS_STREAM_WAIT_MS       how long a thread waits where all streams are taken; 0 without it;
//                            -1 is a wait without an end
//   MPS_COMMIT_AND_CONTINUE  which streams commit in the middle of their work: `all`, as without
//                            it; `main`, the main thread's alone; `none`
class TORCH_API MPSStreamPool {
 public:
  static MPSStreamPool& instance();

  // Assigned at the first call. Throws if all are taken.
  MPSStream* current();

  // -1 if the calling thread has none. Assigns none.
  c10::StreamId held() const;

  // The main thread's if the calling thread has none. Throws nothing.
  MPSStream* heldOrMain();

  // Throws if there is no such index.
  MPSStream* stream(c10::StreamId index);

  // Makes that stream the calling thread's and waits for the work of the previous one. Returns the
  // previous index, or `index` if there was none. Throws if there is no such index.
  c10::StreamId exchange(c10::StreamId index);

  // The index of a stream for exchange(), free if possible.
  c10::StreamId next();

  // Whether operators with a choice use a graph, which is safe for several threads. True while more
  // than one stream is in use, or with MPS_FORCE_GRAPH_PATH (not 0) in the environment.
  bool prefersGraphs() const;

  // Whether that stream commits in the middle of its work.
  static bool commitsAndContinues(c10::StreamId index);

  // Block until the work queued so far is done. REQUIRES: the caller does not run in a block of
  // such a stream's queue.
  void wait(MPSStream* stream);
  void waitForAll();

  // The same before unused memory goes back. In a block of a stream's queue it does not wait: two
  // such blocks would wait for each other's queue.
  void waitForMemory();

  // Whether the caller runs in a block of that stream's queue, and so must not wait for it.
  static bool isInQueueOf(const MPSStream* stream);

 private:
  MPSStreamPool();

  mpsd::StreamPool<MPSStream> pool_;
  const bool force_graphs_;
};

// A Loan, for a block of a queue, which libdispatch may run on another thread, or for another
// thread's task. Lives on one thread.
class TORCH_API MPSStreamScope {
 public:
  explicit MPSStreamScope(MPSStream* stream);
  ~MPSStreamScope();  // not inline: only one source knows what is thread-local

 private:
  const mpsd::StreamPool<MPSStream>::Loan loan_;
};

}  // namespace at::mps
