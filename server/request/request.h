// Request: one accepted call, from admission to its one ending.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "proto/base/check.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "server/request/reply.h"

namespace mpsd {

class RequestQueue;
class RowFiller;
struct ModelMetrics;
struct ServedModel;
struct ModelSpec;
struct Payload;

// The non-batch dims of all inputs, padding included, one behind the other: requests of equal keys
// can share a batch.
using ShapeKey = absl::InlinedVector<int64_t, 8>;

// One input as admission understood it.
struct RequestInput {
  DataType datatype = DataType::kInvalid;
  Dims dims;                         // of a row, as the client sent them
  Dims padded_dims;                  // of a row, as the batch carries them
  uint64_t row_bytes = 0;            // padded; 0 for BYTES, whose rows differ
  uint64_t tensor_bytes = 0;         // of all rows together; of BYTES only
  const Payload* payload = nullptr;  // the client's bytes, which lie there until the reply is given

  // Bytes of `rows` rows, as they lie in a slab.
  uint64_t Bytes(uint32_t rows) const {
    return datatype == DataType::kBytes ? tensor_bytes : row_bytes * rows;
  }
};

// The time that a request has taken in batches so far: of a decoupled model, one for each answer.
struct StageSums {
  int64_t input_ns = 0;
  int64_t infer_ns = 0;
  int64_t output_ns = 0;
};

// When the batch that answers a request went through its stages; all zero where none did. Of a
// decoupled model: when the first was formed and started, and the last was finished.
struct StageTimes {
  int64_t batched_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
};

// Where a request's rows lie.
struct RowPlace {
  uint32_t slab = 0;
  uint32_t first_row = 0;
};

enum class RequestState : uint8_t {
  kNew,        // → kReserved, kWaiting
  kWaiting,    // admitted, waits for memory to lie in      → kReserved, kEnded
  kReserved,   // rows are reserved, the copy is under way  → kQueued, kEnded
  kQueued,     // rows are filled                           → kRunning, kEnded
  kRunning,    // in a batch of a lane          → kQueued (worker lost), kAnswering, kEnded
  kAnswering,  // one of several answers is on its way      → kQueued (for the next), kEnded
  kEnded,      // its reply was, or is just being, given
};

constexpr bool MayGo(RequestState from, RequestState to) {
  switch (from) {
    case RequestState::kNew:
      return to == RequestState::kReserved || to == RequestState::kWaiting;
    case RequestState::kWaiting:
      return to == RequestState::kReserved || to == RequestState::kEnded;
    case RequestState::kReserved:
      return to == RequestState::kQueued || to == RequestState::kEnded;
    case RequestState::kQueued:
      return to == RequestState::kRunning || to == RequestState::kEnded;
    case RequestState::kRunning:
      return to == RequestState::kQueued || to == RequestState::kAnswering ||
             to == RequestState::kEnded;
    case RequestState::kAnswering:
      return to == RequestState::kQueued || to == RequestState::kEnded;
    case RequestState::kEnded:
      return false;
  }
  return false;
}

// Thread-compatible. Embedded in its call (accept/), lent to a RequestQueue from Reserve() until
// its reply is given. Grouped by who writes.
struct Request {
  // Written by accept/ and admit/ before Reserve(), constant afterwards.
  std::shared_ptr<ServedModel> model;  // keeps its queue, its spec and its counters
  RequestQueue* queue = nullptr;       // set once Reserve() succeeded
  ModelMetrics* metrics = nullptr;
  uint32_t rows = 1;
  int64_t arrival_ns = 0;
  int64_t deadline_ns = 0;
  ShapeKey key;
  absl::InlinedVector<RequestInput, 4> inputs;
  absl::InlinedVector<uint32_t, 4> wanted_outputs;  // indices into the spec's outputs
  const RowFiller* filler = nullptr;                // null: it cannot wait for memory
  Reply reply;

  // Guarded by the queue's mutex from Reserve() on.
  RequestState state = RequestState::kNew;
  bool cancelled = false;  // while its rows were being filled
  bool suspect = false;    // goes alone: its worker crashed, or its batch had too large outputs
  uint8_t dispatches = 0;
  uint32_t answers = 0;   // given so far; of a decoupled model
  absl::Status given_up;  // how it ends once its answer is taken, whatever was to follow
  RowPlace place;
  StageTimes times;          // written before the reply is given
  StageSums sums;            // likewise
  bool is_answered = false;  // likewise: the model's statistics count it as answered
  uint64_t queued_bytes = 0;
  Request* previous = nullptr;
  Request* next = nullptr;

  // Takes back what admission wrote. REQUIRES: no queue has reserved rows for it.
  void ForgetModel();

  // The one way on. REQUIRES: a legal one.
  void Go(RequestState to) {
    MPSD_CHECK(MayGo(state, to));
    state = to;
  }

  // Makes the object fit for the next call. REQUIRES: no reply is owed.
  void Reset();
};

// The memory that a reserved request's rows are to be copied to: input i's first row. Pad bytes are
// written by whoever copies.
struct RowTargets {
  absl::InlinedVector<char*, 4> inputs;
  // There is no room yet: the queue has the rows filled and commits the request itself, later and
  // on another thread. `inputs` is empty.
  bool later = false;
};

// Copies a request's payload into its rows. Implemented by admit/. Thread-safe.
class RowFiller {
 public:
  virtual ~RowFiller() = default;
  virtual void Fill(const ModelSpec& spec, const Request& request,
                    const RowTargets& targets) const = 0;
};

// Where admitted requests go. Thread-safe. Implemented by dispatch/.
class RequestQueue {
 public:
  virtual ~RequestQueue() = default;

  // Reserves rows. RESOURCE_EXHAUSTED "Exceeds maximum queue size"; ABORTED when it is closed,
  // since another generation of the model has taken its place: look again. The reply then is still
  // owed by the caller. After OK the queue owns the reply; with `targets->later` it owns the whole
  // request, which may have ended by now.
  virtual absl::Status Reserve(Request* request, RowTargets* targets) = 0;

  // The rows are filled: the request may be put into a batch.
  virtual void Commit(Request* request) = 0;

  // The answer that was sent with SendPart() is taken, or dropped: the next may be made, or the
  // request ends. Called once for each such answer, at any time after SendPart() has begun.
  virtual void Continue(Request* request) = 0;

  // Nobody waits for the request any more: ends it as CANCELLED unless it has ended, now, or when
  // its rows are filled or its answer is taken. Not between one's own Reserve() and Commit().
  virtual void Cancel(Request* request) = 0;

  // Takes no further request: Reserve() is ABORTED from now on. What is inside goes on.
  virtual void Close() = 0;
};

}  // namespace mpsd
