// Request: one inference, from admission to its one ending.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "proto/base/check.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "server/request/reply.h"
#include "server/telemetry/request_span.h"

namespace mpsd {

class RequestQueue;
class RowFiller;
struct ModelMetrics;
struct ServedModel;
struct ModelSpec;
struct Payload;
struct SequenceMark;
struct TokenRows;

// The non-batch dims of all inputs in a row, after padding. Those of an optional input follow a 1;
// if it is left out, there is a 0 instead. Requests with equal keys can share a batch.
using ShapeKey = absl::InlinedVector<int64_t, 8>;

// The digest of everything that the answer to a request depends on: equal keys, equal answers.
using ContentKey = std::array<uint8_t, 32>;

// One input, checked by admission.
struct RequestInput {
  DataType datatype = DataType::kInvalid;  // kInvalid: it is optional, and left out
  Dims dims;                               // of a row, as the client sent them
  Dims padded_dims;                        // of a row, as the batch carries them
  uint64_t row_bytes = 0;                  // padded; 0 for BYTES, whose rows differ
  uint64_t tensor_bytes = 0;               // of all rows together; of BYTES only
  const Payload* payload = nullptr;        // the client's bytes, until the reply is given

  bool is_left_out() const { return datatype == DataType::kInvalid; }

  // How many bytes `rows` rows take in a slab.
  uint64_t Bytes(uint32_t rows) const {
    return datatype == DataType::kBytes ? tensor_bytes : row_bytes * rows;
  }
};

// The time that a request has spent in batches so far. A decoupled model's request is in one batch
// for each of its answers.
struct StageSums {
  int64_t input_ns = 0;
  int64_t infer_ns = 0;
  int64_t output_ns = 0;
};

// When the request's batch went through its stages; all zero while it was in none. For a decoupled
// model: when the first batch was formed and started, and when the last one finished.
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

// Where a request stands, with every legal step to another state.
enum class RequestState : uint8_t {
  kNew,        // not admitted yet                          → kReserved, kWaiting
  kWaiting,    // admitted, waits for memory for its rows   → kReserved, kEnded
  kReserved,   // has rows; the payload is being copied     → kQueued, kEnded
  kQueued,     // rows are filled                           → kRunning, kEnded
  kRunning,    // in a batch of a lane   → kQueued (worker lost), kHeld, kAnswering, kEnded
  kHeld,       // its answer needs a worker with more memory, which starts  → kQueued, kEnded
  kAnswering,  // the client takes one of several answers   → kQueued (for the next), kEnded
  kEnded,      // its reply has been given, or is being given
};

// The table above. Pure.
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
      return to == RequestState::kQueued || to == RequestState::kHeld ||
             to == RequestState::kAnswering || to == RequestState::kEnded;
    case RequestState::kHeld:
    case RequestState::kAnswering:
      return to == RequestState::kQueued || to == RequestState::kEnded;
    case RequestState::kEnded:
      return false;
  }
  return false;
}

// One inference of a call: a unary call has one, a stream many. It lies in its exchange and is used
// again for the next inference. The exchange fills in the times, admission the rest; a RequestQueue
// has it from Reserve() until its reply is given. Fields are grouped by who writes them.
// Thread-compatible.
//
// Invariants:
// 1. `reply` is given exactly once, and nothing touches the request afterwards.
// 2. `state` changes only in Go(), along the table of RequestState.
// 3. From Reserve() until the reply is given `model` and all inputs are constant.
struct Request {
  // Written by the exchange and admit/ before Reserve(), constant afterwards.
  std::shared_ptr<ServedModel> model;  // keeps the queue, the spec and the counters alive
  RequestQueue* queue = nullptr;       // set once Reserve() succeeded
  ModelMetrics* metrics = nullptr;
  uint32_t rows = 1;
  uint32_t rows_behind = 0;  // rows that the same call asks for after this request
  int64_t arrival_ns = 0;
  int64_t patience_ns = 0;  // how long each answer may take; 0: the client gave the deadline
  ShapeKey key;
  absl::InlinedVector<RequestInput, 4> inputs;
  absl::InlinedVector<uint32_t, 4> wanted_outputs;  // indices into the spec's outputs
  std::shared_ptr<const TokenRows> tokens;          // what the payloads point into, if texts came
  uint64_t token_count = 0;                         // of its texts, as TokenRows counts them
  uint64_t truncated_texts = 0;                     // likewise
  std::vector<uint32_t> row_of_text;                // of its texts, as TokenRows says
  std::optional<ContentKey> cache_key;              // under which its answer is to be kept
  const RowFiller* filler = nullptr;                // null: the request cannot wait for memory
  uint32_t tenant = 0;         // below kMaxTenants; 0: callers are not told apart
  uint64_t rules_version = 0;  // of the access rules that numbered the tenant; 0: there were none
  bool is_counted = false;     // its rows count against what its tenant may ask for
  bool is_step = false;        // of a request that was admitted itself: part of its work
  bool inputs_may_change = false;  // they lie in a worker's memory: no answer is found by them
  uint64_t priority = 0;           // as the client said it; 0: it said none
  uint32_t level = 0;              // of its priority (QueuePolicies); the first is served first
  bool yields = false;  // after its wait it lets the others of its level go first, and does not end
  const SequenceMark* sequence = nullptr;   // in the message; null: the model has no sequences
  uint64_t pin = 0;                         // of the lane, and at the end of `key`; 0: any
  std::unique_ptr<const RequestSpan> span;  // null: the request is not traced
  Reply reply;

  // Guarded by the queue's mutex from Reserve() on.
  int64_t deadline_ns = 0;        // of the wait in the queue, and then of the answer
  int64_t final_deadline_ns = 0;  // the answer's, until the wait has ended; 0: deadline_ns is both
  RequestState state = RequestState::kNew;
  bool cancelled = false;      // by the client, while its rows were being filled
  bool is_tried = false;       // let in although its answer was foreseen to be late (Foreseen)
  bool is_unforeseen = false;  // let in while nothing was known of batches of its shape
  bool suspect = false;        // runs alone: its worker crashed, or its batch had too large outputs
  bool delayed = false;        // it has waited, and yields
  uint8_t dispatches = 0;      // how many batches it has been in
  uint8_t crashes = 0;         // how many workers have crashed while they had it
  uint32_t answers = 0;        // of a decoupled model, given so far
  absl::Status given_up;       // not OK: the ending once the current answer is taken
  RowPlace place;
  absl::InlinedVector<char*, 4> rows_at;  // the first row of each input, while rows are live
  uint64_t content = 0;                   // SampleContent(), once the rows are filled
  StageTimes times;                       // written before the reply is given
  StageSums sums;                         // likewise
  bool is_answered = false;               // likewise; the model's statistics count it as answered
  uint64_t queued_bytes = 0;              // counted against the queue's limit
  uint64_t output_bytes = 0;  // that its answer takes, once no lease of a worker could hold it
  int64_t charged_ns = 0;     // lane time, to its tenant, for the batch that it is in

  // An answer has come or was taken: the next one has its full time, unless the client gave the
  // deadline. REQUIRES: the request is in no list that its deadline orders.
  void AwaitFurther(int64_t now_ns) {
    if (patience_ns > 0) deadline_ns = now_ns + patience_ns;
  }

  // Undoes what admission wrote, so that another generation can be tried. REQUIRES: kNew, that is,
  // no queue has reserved rows.
  void ForgetModel();

  // Takes what admission wrote into `whole`, but for its texts, reply and span: this request stands
  // for it, or for some of its rows, in another queue. It is not admitted again, nor counted or
  // traced when it ends. REQUIRES: kNew.
  void StandFor(const Request& whole);

  // Undoes what the encoding of its texts wrote.
  void ForgetTexts();

  int64_t answer_deadline_ns() const {
    return final_deadline_ns == 0 ? deadline_ns : final_deadline_ns;
  }

  // The request waits in the queue no longer than until then. REQUIRES: kNew.
  void LimitWait(int64_t until_ns);

  // The place of the request among those of its shape: those of a lower rank are served first.
  uint32_t rank() const { return 2 * level + (delayed ? 1 : 0); }

  // When it ends, if it is still in the queue then.
  int64_t expiry_ns() const { return yields ? answer_deadline_ns() : deadline_ns; }

  // Its wait ends by `until_ns`, but not the time for its answer, and it yields.
  bool MayBeDelayed(int64_t until_ns) const { return yields && final_deadline_ns > until_ns; }

  // It has waited: from now on it goes behind those of its level that have not. REQUIRES:
  // MayBeDelayed(), and that the request is in no list that its rank or deadline orders.
  void Delay();

  // The request is in a batch: from now on only the deadline of its answer counts.
  void EndWait();

  // The only way to change `state`. REQUIRES: MayGo(state, to).
  void Go(RequestState to) {
    MPSD_CHECK(MayGo(state, to));
    state = to;
  }

  // Prepares the object for the next request. REQUIRES: no reply is owed.
  void Reset();
};

// Where to copy a reserved request's rows.
struct RowTargets {
  absl::InlinedVector<char*, 4> inputs;  // of each input: where its first row begins
  // There is no room yet. The queue calls the request's filler and commits the request itself,
  // later and on another thread. `inputs` is empty.
  bool later = false;
};

// Copies a request's payload into its rows, pad bytes included. Never called under a lock.
// Implemented by admit/. Thread-safe.
class RowFiller {
 public:
  virtual ~RowFiller() = default;
  virtual void Fill(const ModelSpec& spec, const Request& request,
                    const RowTargets& targets) const = 0;
};

// The content of a request that a queue refuses. Equal contents have equal fingerprints in one
// process. A value.
struct RefusedContent {
  uint64_t fingerprint = 0;
  int64_t age_ns = 0;  // since it crashed a worker
};

// A model's queue of admitted requests. A request enters in two steps, so that its payload is
// copied outside every lock: Reserve() gives it rows, the caller fills them, Commit() makes it
// ready for a batch. From then on the queue gives the reply. No method blocks. Implemented by
// dispatch/, steps/, parts/ and sequences/. Thread-safe.
class RequestQueue {
 public:
  virtual ~RequestQueue() = default;

  // Reserves rows for the request. RESOURCE_EXHAUSTED "Exceeds maximum queue size" when the queue
  // is full. ABORTED when the queue is closed, since another generation of the model has replaced
  // its own: the caller looks the model up again. After an error the caller still owes the reply.
  // After OK the queue owes it; with `targets->later` the queue has the whole request, which may
  // have ended already.
  virtual absl::Status Reserve(Request* request, RowTargets* targets) = 0;

  // The rows are filled: the request may join a batch. REQUIRES: Reserve() returned OK, and not
  // `targets->later`.
  virtual void Commit(Request* request) = 0;

  // The client has taken, or lost, the answer that was sent with SendPart(): the model makes the
  // next one, or the request ends. Called once for each such answer, at any time after SendPart()
  // has begun.
  virtual void Continue(Request* request) = 0;

  // Nobody waits for the request any more. Ends it as CANCELLED unless it has ended: at once, or
  // when its rows are filled or its current answer is taken: between Reserve() and Commit() it is
  // only noted, and Commit() ends the request.
  virtual void Cancel(Request* request) = 0;

  // Accepts no further request: Reserve() returns ABORTED from now on. Requests inside go on.
  virtual void Close() = 0;

  // The contents that are refused for now, since they crashed a worker; the oldest first.
  virtual std::vector<RefusedContent> RefusedContents() = 0;

  // Takes them all again. Returns how many they were.
  virtual size_t ForgiveContents() = 0;
};

}  // namespace mpsd
