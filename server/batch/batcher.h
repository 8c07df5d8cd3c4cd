// Batcher: puts requests' rows into slabs and filled rows into batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/shm/layout.h"
#include "server/batch/slab_table.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"

namespace mpsd {

// A batch as it was formed: who is in it, and where the rows lie.
struct FormedBatch {
  std::vector<BatchEntry> entries;
  std::vector<RowRun> runs;
  std::vector<RequestInput> inputs;   // of each entry alike: padded dims and row bytes
  std::vector<uint64_t> byte_counts;  // of each run, its BYTES inputs one after the other
  uint32_t row_count = 0;
  int64_t latest_deadline_ns = 0;

  void Clear();
};

// Requests in a line. Thread-compatible. Intrusive: a request is in one list at most.
class RequestList {
 public:
  bool empty() const { return head_ == nullptr; }
  Request* head() const { return head_; }
  uint32_t rows() const { return rows_; }

  // Behind every request whose deadline is not later; at the end, for requests that arrive in the
  // order of their deadlines.
  void InsertByDeadline(Request* request);
  void Remove(Request* request);

 private:
  Request* head_ = nullptr;
  Request* tail_ = nullptr;
  uint32_t rows_ = 0;
};

// Thread-compatible: guarded by the pool's mutex. Never blocks, never copies a payload, never
// moves a row, never gives a reply.
//
// There is one open slab a shape key; at most kMaxOpenSlabs keys keep one, the least recently used
// is closed. Rows that are reserved but not yet filled are passed over by Form(). A request with a
// BYTES input, or with rows too large to share a slab, gets an extent of its own, as does one for
// whose key no whole slab is to be had.
class Batcher {
 public:
  // `spec` outlives it. A shape key is due when a batch of it is worth closing though company might
  // come: once its earliest in line has waited for `max_delay_ns`, or as many rows wait as a batch
  // takes.
  explicit Batcher(const ModelSpec* spec, int64_t max_delay_ns = 0)
      : spec_(spec), max_delay_ns_(max_delay_ns) {}

  SlabTable* slabs() { return &slabs_; }
  const SlabTable& slab_table() const { return slabs_; }

  // Reserves the rows of a new request. RESOURCE_EXHAUSTED when no slab has room.
  absl::Status Reserve(Request* request, RowTargets* targets);

  // The largest slab for which no segment has had room since this was asked last; 0: none.
  uint64_t TakeMissedBytes() { return std::exchange(missed_bytes_, 0); }

  // Closes the open slabs in which nothing is live. True when there was one.
  bool CloseIdleSlabs();

  // The rows are filled; or their worker was lost and they are to go again.
  void Enqueue(Request* request);

  // Takes a queued request out of the line and gives its rows up.
  void Remove(Request* request);

  // Where the rows of a request lie. REQUIRES: they are reserved and have not ended.
  void Locate(const Request& request, RowTargets* targets) const;

  // Takes all queued requests out of the line that hold the same as `request`, whose rows have not
  // ended: equal rows of equal shapes. Their own rows are given up. What differs is looked at no
  // further than to its first difference.
  void TakeEqual(const Request& request, std::vector<Request*>* equal);

  // Gives rows up that a batch had, or that a reserved request never filled.
  void EndRows(const RowPlace& place, uint32_t rows);

  // Takes the next batch out of the line, earliest deadline first, of a key that is due. False when
  // none is. Requests whose deadline has passed go to `expired` instead, their rows given up.
  bool Form(int64_t now_ns, FormedBatch* batch, std::vector<Request*>* expired);

  // The same for the next suspect, alone. False when there is none.
  bool FormSuspect(int64_t now_ns, FormedBatch* batch, std::vector<Request*>* expired);

  // All queued requests whose deadline has passed, their rows given up.
  void TakeExpired(int64_t now_ns, std::vector<Request*>* expired);

  // Every queued request, their rows given up.
  void TakeAll(std::vector<Request*>* all);

  bool has_suspects() const { return !suspects_.empty(); }

  // When the first key is due; INT64_MIN: now. Nothing when nobody waits.
  std::optional<int64_t> NextDueNs() const;

 private:
  // All requests of one shape key.
  struct KeyQueue {
    RequestList waiting;
    std::vector<uint64_t> row_bytes;  // an input each
    uint32_t row_capacity = 0;
    uint32_t bytes_inputs = 0;  // of datatype BYTES
    bool own_extents = false;   // its requests share no slab
    bool has_slab = false;
    uint32_t slab = 0;
    uint64_t last_used = 0;
  };

  KeyQueue* QueueOf(const Request& request);
  absl::Status ReserveExtent(Request* request, RowTargets* targets);
  absl::StatusOr<uint32_t> LeaseSlab(uint64_t bytes, uint32_t rows);
  bool OpenSlab(KeyQueue* queue);
  void Place(Request* request, uint32_t slab, uint32_t first_row, RowTargets* targets);
  void CloseLeastRecentlyUsed();
  void ForgetIdleKeys(const KeyQueue* keep);
  int64_t DueNs(const KeyQueue& queue) const;
  KeyQueue* EarliestDue(int64_t now_ns) const;
  bool HasRoom(const FormedBatch& batch, const Request& request, const KeyQueue& queue) const;
  void Append(Request* request, FormedBatch* batch);
  void Drop(RequestList* list, Request* request, std::vector<Request*>* dropped);
  bool AreEqual(const Request& one, const Request& other) const;
  void TakeEqualFrom(RequestList* list, const Request& request, std::vector<Request*>* equal);
  void TakeExpiredFrom(RequestList* list, int64_t now_ns, std::vector<Request*>* expired);
  uint32_t max_rows() const { return spec_->batches() ? spec_->max_batch_size : 1; }

  const ModelSpec* const spec_;
  const int64_t max_delay_ns_;
  SlabTable slabs_;
  absl::flat_hash_map<ShapeKey, std::unique_ptr<KeyQueue>> queues_;
  RequestList suspects_;
  uint64_t use_count_ = 0;
  uint64_t missed_bytes_ = 0;
};

}  // namespace mpsd
