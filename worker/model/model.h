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

// One input of a batch: contiguous rows in memory that other batches share, so nobody may write to
// them. `dims` begins with the batch dim when the model batches.
//
// An element of 2, 4 or 8 bytes lies at a multiple of its size; a batch may begin at any row, so no
// other alignment is promised. BYTES elements (elements.h) have none.
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

// Takes the outputs of one run or answer. Made by the executor. Lives on the lane's thread.
//
// Invariants:
//   1. The model declares each output of its spec once, in the spec's order, even after an output
//      had no room.
//   2. The returned address has room for exactly the declared bytes until the run ends.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  // Declares the next output and returns the address for its contiguous, row-major bytes; null when
  // there is no room left. The model then still declares its other outputs, so that the executor
  // learns how much room a second run needs.
  virtual void* Add(DataType datatype, absl::Span<const int64_t> dims) = 0;

  // The same for BYTES, whose elements take `bytes` bytes together with their lengths.
  virtual void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) = 0;

  // Fails one row of this run, counted from 0, but not the batch. The row's output is ignored;
  // `why` is for the client.
  virtual void FailRow(uint32_t row, absl::string_view why) = 0;
};

// Made by LoadModel() on the worker's main thread, owned by the worker's main, and outlives the
// lanes, with its parts. Reading is thread-safe after loading. A foreign exception becomes a
// Status, whose text is fit for clients (no path, no pid).
//
//   LoadModel() ─▶ weights() are shared or used, if asked ─▶ memory() is registered ─▶
//   for each lane: BindLane() ─▶ Run() or Answer(), many times ─▶ the process ends
class Model {
 public:
  virtual ~Model() = default;

  const ModelSpec& spec() const { return spec_; }

  // Constant after loading. ChoosePrecision() sets the note of the model that it takes.
  const ModelTraits& traits() const { return traits_; }
  void set_precision_note(std::string note) { traits_.precision_note = std::move(note); }

  // Parts that not every model has; null if this one lacks it. Constant. A model has answers if and
  // only if its spec is decoupled.
  virtual RunRecorder* recorder() { return nullptr; }
  virtual ShareableWeights* weights() { return nullptr; }
  virtual ModelMemory* memory() { return nullptr; }
  virtual DecoupledAnswers* answers() { return nullptr; }

  // Gives the calling lane's thread its stream, before its first Run(). ReleaseLane() undoes it, on
  // the same thread, if a lane ends before the process. After an error the lane cannot serve.
  virtual absl::Status BindLane(uint32_t /*lane*/) { return absl::OkStatus(); }
  virtual void ReleaseLane(uint32_t /*lane*/) {}

  // Runs one batch on the lane's stream and blocks until all outputs are in the sink. Lanes call it
  // concurrently, each with its own number, after BindLane() on its thread. `inputs` has the order,
  // datatypes and dims of the spec.
  //
  // Errors say "PyTorch execute failure: …". Codes are as in foreign_errors.h, and
  // FAILED_PRECONDITION: the answer contradicts the model's own spec. After an error the sink's
  // contents mean nothing.
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
