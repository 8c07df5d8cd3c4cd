// Model: a loaded model, whatever its format, as the lanes run it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/link/census.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// One input of a batch: contiguous rows that nobody may write. `dims` begins with the batch dim
// when the model batches. The data are aligned as one row is: a batch that begins with a later row
// of a slab begins at a multiple of the row's bytes behind a 64-byte boundary, so that an element
// of 2, 4 or 8 bytes always lies at a multiple of its size, and nothing more is promised. BYTES:
// each element is a u32 length and as many bytes, one behind the other, without alignment.
struct InputTensor {
  const void* data = nullptr;
  uint64_t bytes = 0;
  DataType datatype = DataType::kInvalid;
  Dims dims;
};

// Where the outputs of one run go. Lives on the lane's thread for the time of one Run().
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  // Declares the next output, in the order of the model's outputs, and returns where its bytes are
  // to be written: contiguous, row-major. Null when there is no room left; the model then goes on
  // declaring its other outputs (so that the room needed is known) and writes nothing.
  virtual void* Add(DataType datatype, absl::Span<const int64_t> dims) = 0;

  // The same for an output of datatype BYTES, whose elements, each a u32 length and as many bytes,
  // take `bytes` bytes together.
  virtual void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) = 0;

  // The row failed though the batch did not; its output bytes are not looked at.
  virtual void FailRow(uint32_t row, absl::string_view why) = 0;
};

// Thread-safe where said. Owned by the worker's main, outlives the lanes. Foreign exceptions never
// leave an implementation: they become a Status whose text is fit for clients (no path, no pid).
class Model {
 public:
  virtual ~Model() = default;

  // What the model takes and gives, complete. Constant after loading. Thread-safe.
  virtual const ModelSpec& spec() const = 0;

  // The device it runs on, "cpu", "cuda:0". Constant. Thread-safe.
  virtual std::string device() const = 0;

  // What it is made of. Constant. Thread-safe.
  virtual Census census() const { return Census(); }

  // How many of `wanted` lanes its device and libtorch can bear; `why` says what they cannot.
  virtual uint32_t LanesAllowed(uint32_t wanted, std::string* /*why*/) const { return wanted; }

  // Whether lanes are to be compared before they serve.
  virtual bool wants_self_check() const { return false; }

  // Memory that inputs will lie in: a device may want to know it before it is used. Unregistered
  // before it is unmapped. Thread-safe.
  virtual void RegisterMemory(const void* /*data*/, uint64_t /*bytes*/) {}
  virtual void UnregisterMemory(const void* /*data*/) {}

  // Called by each lane, on the lane's own thread, before its first Run(). ReleaseLane() undoes it,
  // on the same thread, for a lane that ends before the process does.
  virtual absl::Status BindLane(uint32_t lane) = 0;
  virtual void ReleaseLane(uint32_t /*lane*/) {}

  // Runs one batch on the lane's stream and returns when the outputs are in the sink. Lanes call it
  // concurrently, each with its own number. "PyTorch execute failure: …" is INTERNAL when it threw,
  // RESOURCE_EXHAUSTED when memory did not suffice, DATA_LOSS when the device is lost for the
  // process, FAILED_PRECONDITION when its answer is not as its spec says.
  virtual absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                           OutputSink* sink) = 0;

  // What is called in the place of Run() where the spec is decoupled: gives answer `index`, from 0,
  // to one request. False, and nothing in the sink, when the request has no such answer, nor
  // further ones. Depends on inputs and index alone: lanes of any process may be asked in turn, and
  // never for an answer that comes after one which was not given. Fails as Run() does.
  virtual absl::StatusOr<bool> Answer(uint32_t /*lane*/, absl::Span<const InputTensor> /*inputs*/,
                                      uint32_t /*index*/, OutputSink* /*sink*/) {
    return absl::UnimplementedError("the model gives one answer to a request");
  }
};

}  // namespace mpsd
