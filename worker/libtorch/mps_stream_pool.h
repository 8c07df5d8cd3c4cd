// MPSStreamPool: the streams of mps in a patched libtorch, each normally used by one thread.
//
// patch_libtorch.py copies this file among libtorch's sources and has MPSStream.h include it. A
// worker recognizes a patched libtorch by the symbol of instance() (runtime_detection.h).
#pragma once

#include "c10/core/Stream.h"
#include "c10/macros/Export.h"
#include "worker/libtorch/stream_pool.h"

namespace at::mps {

class MPSStream;

// Follows the rules of mpsd::StreamPool. A thread gets an error of c10 if it asks for a stream and
// all 31 are taken, or names one that does not exist.
//
// Two variables of the environment give orders, which the process reads once:
//
//   MPS_STREAM_WAIT_MS       how long a thread waits where all streams are taken. Without it the
//                            thread gets the error at once, since threads keep their streams. -1
//                            is a wait without an end.
//   MPS_COMMIT_AND_CONTINUE  which streams commit in the middle of their work: `all`, as without
//                            it; `main`, the main thread's alone; `none`.
//
// Thread-safe.
class TORCH_API MPSStreamPool {
 public:
  static MPSStreamPool& instance();

  // The calling thread's stream, assigned at the first call. Throws if all are taken.
  MPSStream* current();

  // The index of the calling thread's stream; -1 if it has none. Assigns none.
  c10::StreamId held() const;

  // The calling thread's stream; the main thread's if it has none. Throws nothing.
  MPSStream* heldOrMain();

  // The stream of that index, whichever thread has it. Throws if there is no such index.
  MPSStream* stream(c10::StreamId index);

  // Makes that stream the calling thread's. Waits for the work of the thread's previous stream and
  // returns its index, or returns `index` if there was none. Throws if there is no such index.
  c10::StreamId exchange(c10::StreamId index);

  // The index of a stream for exchange(), one that no thread has, if possible.
  c10::StreamId next();

  // Whether operators that can run with or without a graph use a graph, which is safe for several
  // threads. True while more than one stream is in use, and always with MPS_FORCE_GRAPH_PATH in the
  // environment.
  bool prefersGraphs() const;

  // Whether the stream of that index may commit in the middle of its work.
  static bool commitsAndContinues(c10::StreamId index);

  // Block until the work queued so far on the stream, or on every stream, is done. The caller must
  // not run in a block of such a stream's queue.
  void wait(MPSStream* stream);
  void waitForAll();

  // The same before unused memory goes back. In a block of a stream's queue it waits for nothing:
  // two threads that each run such a block would wait for each other's queue.
  void waitForMemory();

  // Whether the caller runs in a block of that stream's queue, and so must not wait for the queue.
  static bool isInQueueOf(const MPSStream* stream);

 private:
  MPSStreamPool();

  mpsd::StreamPool<MPSStream> pool_;
  const bool force_graphs_;
};

// Makes `stream` the calling thread's for the life of this object. Needed for a block of a queue,
// which libdispatch may run on another thread than the waiting one, and for a task that another
// thread started. Lives on one thread.
class TORCH_API MPSStreamScope {
 public:
  explicit MPSStreamScope(MPSStream* stream);
  ~MPSStreamScope();  // not inline: only one source knows what is thread-local

 private:
  const mpsd::StreamPool<MPSStream>::Loan loan_;
};

}  // namespace at::mps
