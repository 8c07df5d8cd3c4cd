// GraphRecorder: records the work that a thread queues on its device, so that one call queues it
// again.
//
// A small network's forward of some hundred kernels takes longer to queue on a gpu than to compute.
// A recorded run has fixed addresses and shapes:
//
//   copy the batch into the run's inputs ─▶ Replay() ─▶ copy the run's outputs out
//
// This is an interface, because the CUDA recorder needs classes of libtorch_cuda, which the worker
// does not link: one program serves every device. The recorder lies in a library of its own
// (worker/cuda).
#pragma once

#include <memory>

#include "absl/status/status.h"

namespace mpsd {

// One recorded run. Lives on the thread that recorded it.
class RecordedRun {
 public:
  virtual ~RecordedRun() = default;

  // Queues the recorded work on the calling thread's stream, without waiting. Throws what libtorch
  // throws.
  virtual void Replay() = 0;
};

// Records runs of one thread. The runs share memory, so only the run replayed last has valid
// outputs. Outlives its runs. Lives on that thread, whose stream is not the device's default one.
class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;

  // From Begin() to End() the thread's work on its stream is recorded and not done. The thread may
  // not wait for the device then: libtorch throws at such a wait, and End() throws after it.
  // Begin() throws if the device cannot record.
  virtual void Begin() = 0;
  virtual std::unique_ptr<RecordedRun> End() = 0;

  // Ends and drops a recording. Does nothing if none has begun. Never throws.
  virtual void Abandon() = 0;
};

// Opens the library of CUDA's recorder. FAILED_PRECONDITION says why it cannot: the library is
// missing or was built for another libtorch. REQUIRES: libtorch_cuda is loaded. Thread-safe.
absl::Status OpenCudaRecorder();

// A recorder of the calling thread's runs on CUDA. May throw what libtorch throws. REQUIRES:
// OpenCudaRecorder() was OK. Thread-safe.
std::unique_ptr<GraphRecorder> NewCudaRecorder();

// The library's file, which lies beside the worker's program; the sandbox allows reading it.
inline constexpr char kCudaGraphsLibrary[] = "libmpsd-cuda-graphs.so";

// The function that the library exports under this name. The caller owns the result. Throws what
// libtorch throws.
using NewGraphRecorder = GraphRecorder*();
inline constexpr char kNewGraphRecorder[] = "MpsdNewGraphRecorder";

}  // namespace mpsd
