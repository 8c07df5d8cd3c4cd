// Request: one inference, from admission to its one ending.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/check.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "server/request/reply.h"
#include "server/telemetry/request_span.h"

namespace mpsd {

class RequestQueue;
class RowFiller;
class RowQueue;
struct InferMessage;
struct RequestBunch;
struct ModelMetrics;
struct ServedModel;
struct ModelSpec;
struct Payload;
struct SequenceMark;
struct TokenRows;

// The non-batch dims of all inputs in a row, after padding. An optional input's dims follow a 1; if
// it is left out, there is a 0 instead. Requests with equal keys can share a batch.
using ShapeKey = absl::InlinedVector<int64_t, 8>;

// The digest of everything that a request's answer depends on: equal keys, equal answers.
using ContentKey = std::array<uint8_t, 32>;

struct RequestInput {
  DataType datatype = DataType::kInvalid;  // kInvalid: optional, and left out
  Dims dims;                               // dims of a client's row
  Dims padded_dims;                        // dims of a row in the batch
  uint64_t row_bytes = 0;                  // padded; 0 for BYTES, whose rows differ
  uint64_t tensor_bytes = 0;               // all rows together; for BYTES only
  const Payload* payload = nullptr;        // the client's bytes, until the reply

  bool is_left_out() const { return datatype == DataType::kInvalid; }

  // Bytes of `rows` rows in a slab.
  uint64_t Bytes(uint32_t rows) const {
    return datatype == DataType::kBytes ? tensor_bytes : row_bytes * rows;
  }
};

// Time that a request has spent in batches so far. A decoupled model's request has a batch for each
// answer.
struct StageSums {
  int64_t input_ns = 0;
  int64_t infer_ns = 0;
  int64_t output_ns = 0;
};

// When the request's batch passed its stages; zero without one. For a decoupled model: the first
// batch's forming and start, the last one's finish.
struct StageTimes {
  int64_t batched_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
};

struct RowPlace {
  uint32_t slab = 0;
  uint32_t first_row = 0;
};

// A request's state, with every legal step.
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

// A request as it was asked: written by the exchange and admit/ before Reserve(), then constant.
struct RequestAsked {
  std::shared_ptr<ServedModel> model;  // keeps the queue, the spec and the counters alive
  ModelMetrics* metrics = nullptr;
  uint32_t rows = 1;
  uint32_t rows_behind = 0;  // rows that the same call asks for after this request
  int64_t arrival_ns = 0;
  int64_t patience_ns = 0;  // time for each answer; 0: the client gave the deadline
  ShapeKey key;
  absl::InlinedVector<RequestInput, 4> inputs;
  absl::InlinedVector<uint32_t, 4> wanted_outputs;  // indices into the spec's outputs
  std::shared_ptr<const TokenRows> tokens;          // target of the payloads' views, if texts came
  uint64_t token_count = 0;                         // tokens of its texts, as in TokenRows
  uint64_t truncated_texts = 0;                     // as in TokenRows
  std::vector<uint32_t> row_of_text;                // for its texts, as in TokenRows
  std::optional<ContentKey> cache_key;              // under which to keep its answer
  const RowFiller* filler = nullptr;                // null: the request cannot wait for memory
  RequestBunch* bunch = nullptr;                    // its thread's; null: it enters alone
  uint32_t tenant = 0;             // below kMaxTenants; 0: callers are not told apart
  uint64_t rules_version = 0;      // version of the access rules that numbered the tenant; 0: none
  bool is_counted = false;         // its rows count against its tenant's rate
  bool is_step = false;            // part of an admitted request's work
  bool inputs_may_change = false;  // they lie in a worker's memory: no kept answer
  uint64_t priority = 0;           // as the client said it; 0: none
  uint32_t level = 0;   // level of its priority (QueuePolicies); the first is served first
  bool yields = false;  // after its wait it lets others of its level go first, instead of ending
  const SequenceMark* sequence = nullptr;   // in the message; null: the model has no sequences
  uint64_t pin = 0;                         // the lane's, and at the end of `key`; 0: any
  std::unique_ptr<const RequestSpan> span;  // null: not traced
};

// Its ticket: guarded by the queue's mutex from Reserve() on.
struct RequestTicket {
  RequestQueue* queue = nullptr;  // set once Reserve() succeeded
  int64_t deadline_ns = 0;        // for the wait in the queue, then for the answer
  int64_t final_deadline_ns = 0;  // the answer's, during the wait; 0: deadline_ns is both
  RequestState state = RequestState::kNew;
  bool cancelled = false;      // by the client, while its rows were being filled
  bool is_arriving = false;    // the end of its last payload is still to come, until Commit()
  bool is_tried = false;       // admitted although expected to be late (Foreseen)
  bool is_unforeseen = false;  // admitted while nothing was known of batches of its shape
  bool suspect = false;    // runs alone: its worker crashed, or its batch's outputs were too large
  bool delayed = false;    // it has waited, and yields
  uint8_t dispatches = 0;  // batches that it has been in
  uint8_t crashes = 0;     // workers that crashed while they had it
  uint32_t answers = 0;    // given so far; for a decoupled model
  absl::Status given_up;   // not OK: its ending once the current answer is taken
  RowPlace place;
  absl::InlinedVector<char*, 4> rows_at;  // first row of each input, while rows are live
  absl::Span<char> rest;                  // in the rows: where a payload's end goes that arrives
  uint64_t content = 0;                   // SampleContent(), once the rows are filled
  uint64_t queued_bytes = 0;              // counted against the queue's limit
  uint64_t output_bytes = 0;              // size of its answer, once no lease could hold it
  int64_t charged_ns = 0;                 // lane time charged to its tenant for its batch
};

// Its outcome: written before the reply is given.
struct RequestOutcome {
  StageTimes times;
  StageSums sums;
  bool is_answered = false;  // the statistics count it as answered
};

// One inference of a call: a unary call has one, a stream many. Lies in its exchange and is used
// again for the next inference. A RequestQueue has it from Reserve() until its reply is given.
// Thread-compatible.
//
// Invariants:
// 1. `reply` is given exactly once, and nothing touches the request afterwards.
// 2. `state` changes only in Go(), by the table of RequestState.
// 3. From Reserve() until the reply is given, `model` and all inputs are constant.
struct Request : RequestAsked, RequestTicket, RequestOutcome {
  Reply reply;

  // An answer has come or was taken: the next one has its full time, unless the client gave the
  // deadline. REQUIRES: no list orders the request by its deadline.
  void AwaitFurther(int64_t now_ns) {
    if (patience_ns > 0) deadline_ns = now_ns + patience_ns;
  }

  // Undoes what admission wrote, so that another generation can be tried. REQUIRES: kNew: no queue
  // has reserved rows.
  void ForgetModel();

  // Copies what admission wrote into `whole`, except its texts, reply and span: this request stands
  // for `whole`, or for some of its rows, in another queue. It is not admitted again, nor counted
  // or traced when it ends. REQUIRES: kNew.
  void StandFor(const Request& whole);

  // Undoes what the encoding of its texts wrote.
  void ForgetTexts();

  int64_t answer_deadline_ns() const {
    return final_deadline_ns == 0 ? deadline_ns : final_deadline_ns;
  }

  // The request waits in the queue at most until then. REQUIRES: kNew.
  void LimitWait(int64_t until_ns);

  // The request's place among those of its shape: lower ranks are served first.
  uint32_t rank() const { return 2 * level + (delayed ? 1 : 0); }

  // When it ends if it is still in the queue.
  int64_t expiry_ns() const { return yields ? answer_deadline_ns() : deadline_ns; }

  // Whether its wait ends by `until_ns`, it yields, and its answer still has time.
  bool MayBeDelayed(int64_t until_ns) const { return yields && final_deadline_ns > until_ns; }

  // It has waited: from now on it goes behind those of its level that have not. REQUIRES:
  // MayBeDelayed(), and no list orders the request by rank or deadline.
  void Delay();

  // The request is in a batch: only its answer's deadline counts now.
  void EndWait();

  // The only way to change `state`. REQUIRES: MayGo(state, to).
  void Go(RequestState to) {
    MPSD_CHECK(MayGo(state, to));
    state = to;
  }

  // Prepares the object for the next request. REQUIRES: no reply is owed.
  void Reset();
};

// How a request ends that its client has given up, or that no worker can serve before its deadline.
absl::Status CancelledByClient();
absl::Status NoWorkerInTime(absl::string_view model);

// Where to copy a reserved request's rows.
struct RowTargets {
  absl::InlinedVector<char*, 4> inputs;  // by input: where its first row begins
  // There is no room yet. The queue later calls the request's filler and commits the request
  // itself, on another thread. `inputs` is empty.
  bool later = false;
};

// A request that enters a queue together with others, and how its Reserve() went. A value.
struct EnteringRequest {
  RowQueue* queue = nullptr;
  Request* request = nullptr;
  const InferMessage* message = nullptr;
  RowTargets targets;
  absl::Status status;
};

// Requests of one thread's round that were checked. Each queue gets its own ones together: its
// mutex is taken twice for all of them, and one dispatch sees them all. They are small: their
// payloads wait in the transport's memory until InferHandler::EnterAll(). Lives on its thread.
struct RequestBunch {
  static constexpr size_t kMost = 16;
  static constexpr uint64_t kMostBytes = 16 << 10;  // a request's

  std::vector<EnteringRequest> requests;
};

// Copies a request's payload into its rows, padding included. Never called under a lock.
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

// A model's queue of admitted requests. From Reserve() on the queue gives the reply. No method
// blocks. Implemented by pool/ and compose/. Thread-safe.
class RequestQueue {
 public:
  virtual ~RequestQueue() = default;

  // The queue that has rows for this request, as it is. Null: it enters by Reserve() alone. Returns
  // the same at each call.
  virtual RowQueue* RowsFor(const Request& /*request*/) { return nullptr; }

  // Takes the request. RESOURCE_EXHAUSTED "Exceeds maximum queue size" if the queue is full.
  // ABORTED if it is closed, because another generation has replaced its model: the caller looks
  // the model up again. After an error the caller still owes the reply. After OK the queue owes it.
  // With `targets->later` the queue has the whole request, which may have ended already. Without,
  // the request has rows: the caller fills them, then calls RowQueue::Commit().
  virtual absl::Status Reserve(Request* request, RowTargets* targets) = 0;

  // Nobody waits for the request any more. Ends it as CANCELLED unless it has ended: at once, or
  // when its current answer is taken. Between Reserve() and Commit() this is only noted, and
  // Commit() ends the request.
  virtual void Cancel(Request* request) = 0;

  // Accepts no more requests: Reserve() returns ABORTED. Requests inside go on.
  virtual void Close() = 0;
};

// A queue that has rows for its requests: a pool. A request enters in two steps, so that its
// payload is copied outside every lock: Reserve() gives it rows, the caller fills them, Commit()
// makes it ready for a batch.
//
// The payload of a request may still be arriving at Reserve(). Its rows are held until Commit(), as
// long as the client takes. Such requests together get only a part of the queue's bytes, and count
// as waiting from Commit() on. So a slow client takes nothing from others. Implemented by pool/.
// Thread-safe.
class RowQueue : public RequestQueue {
 public:
  RowQueue* RowsFor(const Request& /*request*/) override { return this; }

  // The rows are filled: the request may join a batch. REQUIRES: Reserve() returned OK, without
  // `targets->later`.
  virtual void Commit(Request* request) = 0;

  // Several requests enter together. These do for each what Reserve() and Commit() do. CommitAll()
  // is for requests that ReserveAll() gave rows.
  virtual void ReserveAll(absl::Span<EnteringRequest> requests) {
    for (EnteringRequest& each : requests) each.status = Reserve(each.request, &each.targets);
  }
  virtual void CommitAll(absl::Span<Request* const> requests) {
    for (Request* const request : requests) Commit(request);
  }

  // The client has taken, or lost, the answer from SendPart(): the model makes the next one, or the
  // request ends. Called once for each such answer, at any time after SendPart() has begun.
  virtual void Continue(Request* request) = 0;

  // The contents refused for now, since they crashed a worker; the oldest first.
  virtual std::vector<RefusedContent> RefusedContents() { return {}; }

  // Accepts them all again. Returns their number.
  virtual size_t ForgiveContents() { return 0; }
};

}  // namespace mpsd
