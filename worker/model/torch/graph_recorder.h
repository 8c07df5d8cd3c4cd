// GraphRecorder: records the work that a thread queues on its device, so that one call queues it
// again.
//
// A small network takes longer to queue on a gpu than to compute. A recorded run has fixed
// addresses and shapes:
//
//   copy the batch into the run's inputs ─▶ Replay() ─▶ copy the run's outputs out
//
// The CUDA recorder needs classes of libtorch_cuda, which the worker does not link. So it lies in a
// library of its own (worker/cuda).
#pragma once

#include <memory>

#include "absl/status/status.h"

namespace mpsd {

// One recorded run. Lives on the thread that recorded it.
class RecordedRun {
 public:
  virtual ~RecordedRun() = default;

  // Queues the work on the calling thread's stream, without waiting. May throw.
  virtual void Replay() = 0;
};

// Records runs of one thread. Lives on that thread, whose stream is not the device's default one.
// The runs share memory, so only the run replayed last has valid outputs. Outlives its runs.
class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;

  // From Begin() to End() the thread's work on its stream is recorded and not done. If the thread
  // waits for the device meanwhile, libtorch throws, then and in End(). Begin() throws if the
  // device cannot record.
  virtual void Begin() = 0;
  virtual std::unique_ptr<RecordedRun> End() = 0;

  // Drops a recording that has begun, if any. Never throws.
  virtual void Abandon() = 0;
};

// FAILED_PRECONDITION: the library is missing or was built for another libtorch. REQUIRES:
// libtorch_cuda is loaded. Thread-safe.
absl::Status OpenCudaRecorder();

// For the calling thread's runs. May throw. REQUIRES: OpenCudaRecorder() was OK. Thread-safe.
std::unique_ptr<GraphRecorder> NewCudaRecorder();

// Lies beside the worker's program; the sandbox allows reading it.
inline constexpr char kCudaGraphsLibrary[] = "libmpsd-cuda-graphs.so";

// The function that the library exports. The caller owns the result. May throw.
using NewGraphRecorder = GraphRecorder*();
inline constexpr char kNewGraphRecorder[] = "MpsdNewGraphRecorder";

}  // namespace mpsd
