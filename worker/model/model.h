// Model: a loaded model, whatever its format, as the lanes run it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "worker/model/decoupled_answers.h"
#include "worker/model/model_memory.h"
#include "worker/model/model_traits.h"
#include "worker/model/run_recorder.h"
#include "worker/model/shareable_weights.h"

namespace mpsd {

// One input of a batch: contiguous rows. Nobody may write to them, because they lie in memory that
// other batches share. `dims` begins with the batch dim when the model batches.
//
// Alignment: a slab's rows begin at a 64-byte boundary, and a batch may begin at any of them. So an
// element of 2, 4 or 8 bytes lies at a multiple of its size; no other alignment is promised. BYTES:
// consecutive elements, each a u32 length and that many bytes, without alignment.
//
// An optional input that all requests of the batch leave out has the datatype kInvalid and no
// bytes; its dims mean nothing.
struct InputTensor {
  const void* data = nullptr;
  uint64_t bytes = 0;
  DataType datatype = DataType::kInvalid;
  Dims dims;

  bool is_left_out() const { return datatype == DataType::kInvalid; }
};

// Takes the outputs of one run. Made by the executor for one run or answer, and called by the model
// only during that call. Lives on the lane's thread.
//
// Invariants:
//   1. The model declares each output of its spec once, in the spec's order, even after an output
//      had no room.
//   2. The returned address has room for exactly the declared bytes and is valid until the
//      call returns.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  // Declares the next output and returns the address for its bytes: contiguous, row-major, in the
  // layout of `datatype`. Null when there is no room left. The model then writes nothing but
  // declares its other outputs, so that the executor learns how much room a second run needs.
  virtual void* Add(DataType datatype, absl::Span<const int64_t> dims) = 0;

  // The same for an output of datatype BYTES. Its elements, each a u32 length and that many bytes,
  // take `bytes` bytes together.
  virtual void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) = 0;

  // Says that `row` has failed although the batch has not. The row's output bytes are ignored;
  // `why` is for the client. `row` counts from 0 in this run.
  virtual void FailRow(uint32_t row, absl::string_view why) = 0;
};

// A model as step 9 of a request's path sees it. Made by LoadModel() on the worker's main thread,
// owned by the worker's main, and outlives the lanes, with its parts. Reading is thread-safe after
// loading.
//
// A foreign exception becomes a Status, whose text is fit for clients (no path, no pid). A model
// knows nothing of slots, slabs or the front end, and does not retry.
//
// Life: LoadModel() -> weights() are shared or used, if asked -> memory() is registered -> for each
// lane BindLane() -> Run() or Answer(), many times -> the process ends.
class Model {
 public:
  virtual ~Model() = default;

  // The complete inputs and outputs of the model, as clients see them. Constant.
  const ModelSpec& spec() const { return spec_; }

  // Constant after loading. ChoosePrecision() sets the note of the model that it takes.
  const ModelTraits& traits() const { return traits_; }
  void set_precision_note(std::string note) { traits_.precision_note = std::move(note); }

  // The parts that not every model has; null if this one lacks it. Constant. A model has answers if
  // and only if its spec is decoupled.
  virtual RunRecorder* recorder() { return nullptr; }
  virtual ShareableWeights* weights() { return nullptr; }
  virtual ModelMemory* memory() { return nullptr; }
  virtual DecoupledAnswers* answers() { return nullptr; }

  // Gives the calling lane's thread its stream. Each lane calls it on its own thread, before its
  // first Run(). ReleaseLane() undoes it, on the same thread, for a lane that ends before the
  // process does. An error means that the lane cannot serve.
  virtual absl::Status BindLane(uint32_t /*lane*/) { return absl::OkStatus(); }
  virtual void ReleaseLane(uint32_t /*lane*/) {}

  // Runs one batch of `row_count` rows on the lane's stream and blocks until all outputs are in the
  // sink. Lanes call it concurrently, each with its own number, after BindLane() on its thread.
  // `inputs` has the order, datatypes and dims of the spec, except inputs that are left out.
  //
  // Errors say "PyTorch execute failure: …". INTERNAL: the model threw. RESOURCE_EXHAUSTED: memory
  // did not suffice. DATA_LOSS: the device is lost for this process. FAILED_PRECONDITION: the
  // answer contradicts the model's own spec. After an error the sink's contents mean nothing.
  virtual absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                           OutputSink* sink) = 0;

 protected:
  explicit Model(ModelSpec spec, ModelTraits traits = {})
      : spec_(std::move(spec)), traits_(std::move(traits)) {}

  // For constructors.
  ModelTraits& loading_traits() { return traits_; }

 private:
  const ModelSpec spec_;
  ModelTraits traits_;
};

}  // namespace mpsd
