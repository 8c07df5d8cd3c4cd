// Model: a loaded model, whatever its format, as the lanes run it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/fd.h"
#include "proto/link/census.h"
#include "proto/link/driver_guard.h"
#include "proto/link/input_memory.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"
#include "proto/link/precision.h"
#include "worker/model/record_shapes.h"
#include "worker/model/run_prices.h"
#include "worker/model/trial_dims.h"

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

// One fact from a model's files, for `mpsd inspect` to show. Plain data.
struct ModelFact {
  std::string name;
  std::string text;
};

// Takes the outputs of one run. Made by the executor for one Run() or Answer(), and called by the
// model only during that call. Lives on the lane's thread.
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
// owned by the worker's main, and outlives the lanes. Functions marked so are thread-safe; the main
// thread alone calls the others, unless their comments name another thread.
//
// A foreign exception becomes a Status, whose text is fit for clients (no path, no pid). A model
// knows nothing of slots, slabs or the front end, and does not retry.
//
// Life: LoadModel() -> ShareWeights() or UseWeights(), if asked -> RegisterMemory() -> for each
// lane BindLane() -> Run() or Answer(), many times -> the process ends.
class Model {
 public:
  virtual ~Model() = default;

  // The complete inputs and outputs of the model, as clients see them. Constant after loading.
  // Thread-safe.
  virtual const ModelSpec& spec() const = 0;

  // The device that the model runs on: "cpu", "cuda:0". Constant. Thread-safe.
  virtual std::string device() const = 0;

  // The model's operators, counted by kind, and its size. Constant. Thread-safe.
  virtual Census census() const { return Census(); }

  // Facts from the model's files beyond its spec, for people: "family", "bert"; and the operators
  // that the device lacks. Constant. Thread-safe.
  virtual std::vector<ModelFact> facts() const { return {}; }

  // The names of a row's classes, by number, from the model's files; empty if they name none. At
  // most kMaxLabels names, of kMaxLabelsBytes together. Constant. Thread-safe.
  virtual std::vector<std::string> labels() const { return {}; }

  // The precision that the model computes in; never kAuto. Constant. Thread-safe.
  virtual Precision precision() const { return Precision::kAsSaved; }

  // How "auto" came to that precision, for operators; empty if the precision was prescribed.
  // ChoosePrecision() sets it while the model is loaded; thread-safe afterwards.
  const std::string& precision_note() const { return precision_note_; }
  void set_precision_note(std::string note) { precision_note_ = std::move(note); }

  // The smallest and the largest whole number that every element of this input accepts. Trial runs
  // stay between the two. Constant. Thread-safe.
  virtual std::pair<int64_t, int64_t> trial_range(size_t /*input*/) const { return {0, 1}; }

  // How many of `wanted` lanes the device and its runtime can bear, at least 1. Sets `why` when
  // that is fewer than `wanted`.
  virtual uint32_t LanesAllowed(uint32_t wanted, std::string* /*why*/) const { return wanted; }

  // Whether the model's threads now take turns in those methods of the gpu's driver that need it.
  // Thread-safe.
  virtual DriverGuard driver_guard() const { return DriverGuard::kNone; }

  // Whether the device uses the rows of a batch in place. Constant after loading. Thread-safe.
  virtual InputMemory input_memory() const { return InputMemory::kNone; }

  // Whether the worker compares the lanes' outputs before they serve.
  virtual bool wants_self_check() const { return false; }

  // Whether several lanes may run only after that comparison has shown that they agree. If the
  // comparison was not made or could not tell, one lane runs.
  virtual bool needs_self_check() const { return false; }

  // Whether batches should have only a few row counts, filled up with copies of a row, because each
  // new count costs the device a compilation. Only if the model batches and has no string inputs or
  // outputs. Constant. Thread-safe.
  virtual bool wants_row_buckets() const { return false; }

  // Whether tokens that "attention_mask" leaves out cost nothing, because the model computes only
  // the others. Only if the model has that input. Constant. Thread-safe.
  virtual bool leaves_padding_out() const { return false; }

  // Whether lanes should record runs while they warm up (record_runs.h) and answer batches by
  // replaying them: a small model takes longer to queue on a gpu than to compute. Only if the model
  // has no strings and gives one answer to a request. Constant. Thread-safe.
  virtual bool wants_records() const { return false; }

  // The shapes to record, the largest first. Constant. Thread-safe.
  virtual std::vector<TrialShape> record_shapes() const { return RecordShapes(spec()); }

  // Records a run of these inputs on the calling lane; their numbers do not matter. From now on
  // Run() answers batches of their size by a replay, and smaller batches if SetRecordPrice() shows
  // that this is faster. FAILED_PRECONDITION says why the run cannot be recorded; other errors as
  // for Run(). After an error nothing is kept. DropRecord() forgets a record.
  virtual absl::Status Record(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                              uint32_t /*row_count*/) {
    return absl::FailedPreconditionError("the format records no runs");
  }
  virtual void SetRecordPrice(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                              const RunPrice& /*price*/) {}
  virtual void DropRecord(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                          uint32_t /*row_count*/) {}

  // How many bytes of weights in the device's memory this model could share with the model's other
  // workers; 0: none. Constant after loading.
  virtual uint64_t weight_bytes() const { return 0; }

  // ShareWeights() moves the weights to memory that other processes can map, and returns its
  // descriptor. UseWeights() maps another worker's memory in place of the model's own weights.
  // After an error the model has its own weights, as before. FAILED_PRECONDITION: the other
  // worker's weights differ, or cannot be mapped here. RESOURCE_EXHAUSTED: there is no room for a
  // temporary second copy. DATA_LOSS: the device is lost. Called on the main thread, before any
  // lane is bound.
  virtual absl::StatusOr<UniqueFd> ShareWeights() {
    return absl::UnimplementedError("the format shares no weights");
  }
  virtual absl::Status UseWeights(UniqueFd /*memory*/) {
    return absl::UnimplementedError("the format shares no weights");
  }

  // Announces memory in which inputs will lie. The device may then read it without staging. Called
  // before a batch names the memory. UnregisterMemory() is called with the same address before the
  // memory is unmapped. Thread-safe.
  virtual void RegisterMemory(const void* /*data*/, uint64_t /*bytes*/) {}
  virtual void UnregisterMemory(const void* /*data*/) {}

  // Announces memory that sinks will give out. The device may then write it without staging. It
  // stays for the life of the process. Called before the first run. Thread-safe.
  virtual void RegisterOutputMemory(void* /*data*/, uint64_t /*bytes*/) {}

  // Whether the model's library keeps host memory for later runs and can give it back.
  // UnusedMemoryBytes() is how much it keeps. ReleaseUnusedMemory() gives back what it can; the
  // next runs take it again. gives_memory_back() is constant. The other two are called on a lane's
  // thread, ReleaseUnusedMemory() only while no lane runs.
  virtual bool gives_memory_back() const { return false; }
  virtual uint64_t UnusedMemoryBytes() { return 0; }
  virtual void ReleaseUnusedMemory() {}

  // Gives the calling lane's thread its stream. Each lane calls it on its own thread, before its
  // first Run(). ReleaseLane() undoes it, on the same thread, for a lane that ends before the
  // process does. An error means that the lane cannot serve.
  virtual absl::Status BindLane(uint32_t lane) = 0;
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

  // Replaces Run() when the spec is decoupled: gives answer `index`, from 0, to one request.
  // Returns false, with nothing in the sink, when the request has no answer of that index; later
  // indexes then have none either, and are not asked for. The answer depends only on the inputs and
  // the index, because lanes of different processes may be asked in turn. Fails as Run() does.
  virtual absl::StatusOr<bool> Answer(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                                      uint32_t /*index*/, OutputSink* /*sink*/) {
    return absl::UnimplementedError("the model gives one answer to a request");
  }

 private:
  std::string precision_note_;
};

}  // namespace mpsd
