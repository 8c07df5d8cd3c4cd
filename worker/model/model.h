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

// One input of a batch: contiguous rows, which nobody may write, because they lie in memory that
// other batches share. `dims` begins with the batch dim when the model batches.
//
// Alignment: a batch begins at any row of a slab, and so at a multiple of the row's bytes behind a
// 64-byte boundary. An element of 2, 4 or 8 bytes therefore lies at a multiple of its size; nothing
// more is promised. BYTES: consecutive elements, each a u32 length and that many bytes, without
// alignment.
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

// One thing that a model's files say of it, for `mpsd inspect` to show. Plain data.
struct ModelFact {
  std::string name;
  std::string text;
};

// Takes the outputs of one run. Made by the executor for one Run() or Answer(), and called by the
// model during that call only. Lives on the lane's thread.
//
// Invariants:
//   1. The model declares each output of its spec once, in the spec's order, also after one
//      had no room.
//   2. The returned address has room for exactly the declared bytes and is valid until the
//      call returns.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  // Declares the next output and returns the address for its bytes: contiguous, row-major, in the
  // layout of `datatype`. Null when there is no room left; the model then writes nothing, but goes
  // on declaring its other outputs, so that the executor learns how much room a second run needs.
  virtual void* Add(DataType datatype, absl::Span<const int64_t> dims) = 0;

  // The same for an output of datatype BYTES. Its elements, each a u32 length and that many bytes,
  // take `bytes` bytes together.
  virtual void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) = 0;

  // Says that `row` has failed although the batch has not. The row's output bytes are not looked
  // at; `why` is for the client. `row` counts from 0 in this run.
  virtual void FailRow(uint32_t row, absl::string_view why) = 0;
};

// A model as step 9 of a request's path sees it. Made by LoadModel() on the worker's main thread,
// owned by the worker's main, and outlives the lanes. Thread-safe where said; everything else
// belongs to the main thread.
//
// A model never lets a foreign exception out: it becomes a Status, whose text is fit for clients
// (no path, no pid). It knows nothing of slots, slabs or the front end, and does not retry.
//
// Life: LoadModel() -> ShareWeights() or UseWeights(), if asked -> RegisterMemory() -> for each
// lane BindLane() -> Run() or Answer(), many times -> the process ends.
class Model {
 public:
  virtual ~Model() = default;

  // The inputs and outputs of the model, complete, as clients see them. Constant after loading.
  // Thread-safe.
  virtual const ModelSpec& spec() const = 0;

  // The device that the model runs on: "cpu", "cuda:0". Constant. Thread-safe.
  virtual std::string device() const = 0;

  // The model's operators, counted by kind, and its size. Constant. Thread-safe.
  virtual Census census() const { return Census(); }

  // What the model's files say of it beyond its spec, for people: "family", "bert"; and which of
  // its operators the device lacks. Constant. Thread-safe.
  virtual std::vector<ModelFact> facts() const { return {}; }

  // The names of a row's classes, by number, as the model's files say; empty where they say none.
  // At most kMaxLabels of kMaxLabelsBytes together. Constant. Thread-safe.
  virtual std::vector<std::string> labels() const { return {}; }

  // What the model computes in; never kAuto. Constant. Thread-safe.
  virtual Precision precision() const { return Precision::kAsSaved; }

  // How "auto" came to that precision, for operators; empty where it was told. Set while the model
  // is loaded, by ChoosePrecision(); thread-safe afterwards.
  const std::string& precision_note() const { return precision_note_; }
  void set_precision_note(std::string note) { precision_note_ = std::move(note); }

  // The least and the largest whole number that this input of the spec takes in any place: trial
  // runs stay between the two. Constant. Thread-safe.
  virtual std::pair<int64_t, int64_t> trial_range(size_t /*input*/) const { return {0, 1}; }

  // How many of `wanted` lanes the device and its runtime can bear, at least 1. Sets `why` when
  // that is fewer than `wanted`.
  virtual uint32_t LanesAllowed(uint32_t wanted, std::string* /*why*/) const { return wanted; }

  // Whether its threads take turns in the methods of the gpu's driver that need it, as it is now.
  // Thread-safe.
  virtual DriverGuard driver_guard() const { return DriverGuard::kNone; }

  // Whether the device uses the rows of a batch where they lie. Constant after loading.
  // Thread-safe.
  virtual InputMemory input_memory() const { return InputMemory::kNone; }

  // Whether the worker compares the lanes' outputs before they serve.
  virtual bool wants_self_check() const { return false; }

  // Whether several lanes run only after that comparison has shown that they agree, and one where
  // it was not made or could not tell.
  virtual bool needs_self_check() const { return false; }

  // Whether batches are to have a few numbers of rows only, filled up with copies of a row, because
  // each new number costs the device a compilation. Only of a model that batches, and whose inputs
  // and outputs have no strings. Constant. Thread-safe.
  virtual bool wants_row_buckets() const { return false; }

  // Whether tokens that "attention_mask" leaves out cost the model nothing: it computes the others
  // alone. Of a model that has that input. Constant. Thread-safe.
  virtual bool leaves_padding_out() const { return false; }

  // Whether lanes are to record runs while they warm up (record_runs.h), to answer batches by their
  // replay: a small model takes longer to queue on a gpu than to compute. Only of a model that has
  // neither strings nor several answers. Constant. Thread-safe.
  virtual bool wants_records() const { return false; }

  // The shapes to record, the largest first. Constant. Thread-safe.
  virtual std::vector<TrialShape> record_shapes() const { return RecordShapes(spec()); }

  // Records a run of these inputs on the calling lane: from now on Run() answers batches of their
  // size by a replay, and smaller ones where that is faster, by SetRecordPrice(). The
  // inputs' numbers do not matter. FAILED_PRECONDITION says why it cannot be recorded; other errors
  // as Run(). Nothing is kept of a run that was not recorded. DropRecord() forgets one.
  virtual absl::Status Record(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                              uint32_t /*row_count*/) {
    return absl::FailedPreconditionError("the format records no runs");
  }
  virtual void SetRecordPrice(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                              const RunPrice& /*price*/) {}
  virtual void DropRecord(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                          uint32_t /*row_count*/) {}

  // How many bytes of the device's memory other workers of the model could share with this one: its
  // weights; 0: none. Constant after loading.
  virtual uint64_t weight_bytes() const { return 0; }

  // Moves them to memory that other processes can map, and returns its descriptor; or maps that of
  // another worker in their place. After an error the model has weights of its own, as before.
  // FAILED_PRECONDITION: the other's weights are not the same, or cannot be mapped here.
  // RESOURCE_EXHAUSTED: there is no room for a second copy meanwhile. DATA_LOSS: the device is
  // lost. Called on the main thread, before any lane is bound.
  virtual absl::StatusOr<UniqueFd> ShareWeights() {
    return absl::UnimplementedError("the format shares no weights");
  }
  virtual absl::Status UseWeights(UniqueFd /*memory*/) {
    return absl::UnimplementedError("the format shares no weights");
  }

  // Announces memory that inputs will lie in, which a device may then read without staging. Called
  // before a batch names the memory; UnregisterMemory() is called with the same address before the
  // memory is unmapped. Thread-safe.
  virtual void RegisterMemory(const void* /*data*/, uint64_t /*bytes*/) {}
  virtual void UnregisterMemory(const void* /*data*/) {}

  // Announces memory that sinks will give out, which a device may then write without staging. It
  // stays for the life of the process. Called before the first run. Thread-safe.
  virtual void RegisterOutputMemory(void* /*data*/, uint64_t /*bytes*/) {}

  // Whether the model's library keeps memory of the host for later runs that it can give back:
  // UnusedMemoryBytes() is how much it keeps, and ReleaseUnusedMemory() gives back what it can,
  // which the next runs pay for. Constant; the other two are called on a lane's thread,
  // ReleaseUnusedMemory() while no lane runs.
  virtual bool gives_memory_back() const { return false; }
  virtual uint64_t UnusedMemoryBytes() { return 0; }
  virtual void ReleaseUnusedMemory() {}

  // Called by each lane on its own thread, before its first Run(): gives the thread its stream.
  // ReleaseLane() undoes it, on the same thread, for a lane that ends before the process does. An
  // error means that the lane cannot serve.
  virtual absl::Status BindLane(uint32_t lane) = 0;
  virtual void ReleaseLane(uint32_t /*lane*/) {}

  // Runs one batch of `row_count` rows on the lane's stream and blocks until all outputs are in the
  // sink. Lanes call it concurrently, each with its own number, after BindLane() on its thread.
  // `inputs` has the order, datatypes and dims of the spec, but for those that are left out.
  //
  // Errors say "PyTorch execute failure: …". INTERNAL: the model threw. RESOURCE_EXHAUSTED: memory
  // did not suffice. DATA_LOSS: the device is lost for this process. FAILED_PRECONDITION: the
  // answer contradicts the model's own spec. After an error the sink's contents mean nothing.
  virtual absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                           OutputSink* sink) = 0;

  // Takes the place of Run() when the spec is decoupled: gives answer `index`, from 0, to one
  // request. Returns false, with nothing in the sink, when the request has no answer of that index;
  // then it has no later one either. The answer depends on the inputs and the index alone, because
  // lanes of different processes may be asked in turn. No index is asked for after one that was not
  // given. Fails as Run() does.
  virtual absl::StatusOr<bool> Answer(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                                      uint32_t /*index*/, OutputSink* /*sink*/) {
    return absl::UnimplementedError("the model gives one answer to a request");
  }

 private:
  std::string precision_note_;
};

}  // namespace mpsd
