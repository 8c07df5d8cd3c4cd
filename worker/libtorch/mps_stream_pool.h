// MPSStreamPool: the streams of mps in a patched libtorch, each of which one thread has.
//
// patch_libtorch.py copies this file among libtorch's sources and has MPSStream.h include it. A
// worker knows a patched libtorch by the symbol of instance() (runtime_detection.h).
#pragma once

#include "c10/core/Stream.h"
#include "c10/macros/Export.h"
#include "worker/libtorch/stream_pool.h"

namespace at::mps {

class MPSStream;

// The rules are those of mpsd::StreamPool. Where a thread asks for a stream and all 31 are taken,
// or names one that there is not, it gets an error of c10. It does not wait: who has more threads
// than streams knows what to wait for (mpsd's StreamSet), and threads that keep their streams would
// have it wait forever. Thread-safe.
class TORCH_API MPSStreamPool {
 public:
  static MPSStreamPool& instance();

  // The calling thread's stream, which it gets with the first call. Throws where all are taken.
  MPSStream* current();

  // The index of the calling thread's stream; -1 where it has none, and then it gets none.
  c10::StreamId held() const;

  // The calling thread's stream; the main thread's where it has none. Throws nothing.
  MPSStream* heldOrMain();

  // The stream of that index, whoever has it. Throws where there is no such index.
  MPSStream* stream(c10::StreamId index);

  // Makes that stream the calling thread's. Returns the index of the one before, for which it
  // waits, or `index` where there was none. Throws where there is no such index.
  c10::StreamId exchange(c10::StreamId index);

  // The index of a stream for exchange() that no thread has, if there is one.
  c10::StreamId next();

  // Whether operators with two ways take that of graphs, which several threads may go at a time:
  // while more than one stream is in use, and always with MPS_FORCE_GRAPH_PATH in the environment.
  bool prefersGraphs() const;

  // Block until the work that was queued on the stream, or on each stream so far, is done. The
  // caller runs no block of such a stream's queue.
  void wait(MPSStream* stream);
  void waitForAll();

 private:
  MPSStreamPool();

  mpsd::StreamPool<MPSStream> pool_;
  const bool force_graphs_;
};

// Makes `stream` the calling thread's for the life of this object: for a block of a queue, which
// libdispatch may run on another thread than that which waits for it, and for a task that another
// thread started. Lives on one thread.
class TORCH_API MPSStreamScope {
 public:
  explicit MPSStreamScope(MPSStream* stream);
  ~MPSStreamScope();  // not inline: one source alone knows what is thread-local

 private:
  const mpsd::StreamPool<MPSStream>::Loan loan_;
};

}  // namespace at::mps
