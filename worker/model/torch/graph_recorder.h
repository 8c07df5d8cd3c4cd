// GraphRecorder: records the work that a thread gives its device, so that one call gives it again.
//
// A small network on a GPU waits for its launches: a forward of some hundred kernels takes longer
// to queue than to compute. A recorded run is queued by one call. What is recorded has fixed
// addresses and shapes:
//
//   copy the batch into the run's inputs ─▶ Replay() ─▶ copy the run's outputs out
//
// An interface, because the recorder of CUDA needs classes of libtorch_cuda, and the worker, which
// is one program for every device, does not link that. It lies in a library of its own, which
// NewCudaRecorder() opens (worker/cuda).
#pragma once

#include <memory>

#include "absl/status/status.h"

namespace mpsd {

// One recorded run. Lives on the thread that recorded it.
class RecordedRun {
 public:
  virtual ~RecordedRun() = default;

  // Queues the recorded work on the calling thread's stream, and does not wait for it. Throws what
  // libtorch throws.
  virtual void Replay() = 0;
};

// Records runs of one thread, whose memory they share: of its runs the latest replayed has valid
// outputs. Outlives its runs. Lives on that thread, whose stream is not the device's default one.
class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;

  // From here to End() the thread's work on its stream is recorded and not done. It may not wait
  // for the device then: libtorch throws where it would, and End() throws after that. Throws where
  // the device cannot record.
  virtual void Begin() = 0;
  virtual std::unique_ptr<RecordedRun> End() = 0;

  // Ends a recording that is of no use. Does nothing where none has begun. Never throws.
  virtual void Abandon() = 0;
};

// Opens the library of CUDA's recorder. FAILED_PRECONDITION says why it cannot: it is not there, or
// is of another libtorch. REQUIRES: libtorch_cuda is loaded. Thread-safe.
absl::Status OpenCudaRecorder();

// A recorder of the calling thread's runs on CUDA. May throw what libtorch throws. REQUIRES:
// OpenCudaRecorder() was OK. Thread-safe.
std::unique_ptr<GraphRecorder> NewCudaRecorder();

// The file of the library, which lies beside the worker's program; the sandbox lets it be read.
inline constexpr char kCudaGraphsLibrary[] = "libmpsd-cuda-graphs.so";

// The function that the library exports by this name. The caller owns what it returns; it throws
// what libtorch throws.
using NewGraphRecorder = GraphRecorder*();
inline constexpr char kNewGraphRecorder[] = "MpsdNewGraphRecorder";

}  // namespace mpsd
