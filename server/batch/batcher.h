// Batcher: puts requests' rows into slabs, and queued requests into batches.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/batch/formed_batch.h"
#include "server/batch/request_list.h"
#include "server/batch/slab_table.h"
#include "server/request/request.h"
#include "server/schedule/scheduler.h"

namespace mpsd {

// The rows and the lines of one pool's requests (steps 4 and 7 of a request's life). Owned by the
// pool's queue. Thread-compatible: guarded by the pool's mutex. It never blocks, copies a payload,
// moves a row, ends a request or decides which batch is next: a Scheduler does, and Form() carries
// that out.
//
// Invariants, which CheckInvariants() holds it to:
//  1. A queued request is in one line: its shape key's, or the suspects'. Reserved rows that are
//     not filled yet belong to a request in no line, so no batch contains them.
//  2. Each shape key has one line and at most one open slab. Only such slabs are open.
//  3. At most kMaxOpenSlabs keys have an open slab: the least recently used is closed.
//  4. lines() shows each line as it is.
//  5. Rows are live from Reserve() until EndRows(), or until their request is taken out of a line
//     by any call but Form() and FormSuspect().
//
// A request gets an extent of its own, which is closed at once, if it has a BYTES input, if its
// rows are too large to share a slab, or if no whole slab is to be had for its key.
class Batcher {
 public:
  // `spec` outlives the batcher. It may still change until the first Reserve().
  explicit Batcher(const ModelSpec* spec) : spec_(spec) {}

  SlabTable* slabs() { return &slabs_; }
  const SlabTable& slab_table() const { return slabs_; }

  // Reserves the rows of a new or waiting request, and says where they lie. RESOURCE_EXHAUSTED when
  // no slab has room; then the request is unchanged.
  absl::Status Reserve(Request* request, RowTargets* targets);

  // The bytes of the largest slab that found no room since the last call; 0 when each found some.
  uint64_t TakeMissedBytes() { return std::exchange(missed_bytes_, 0); }

  // Closes the open slabs in which nothing is live. True when there was one.
  bool CloseIdleSlabs();

  // The request joins its line. REQUIRES: its rows are filled and live.
  void Enqueue(Request* request);

  // Takes a queued request out of its line and ends its rows. The caller ends the request.
  void Remove(Request* request);

  // Where the rows of a request lie. REQUIRES: they are live.
  void Locate(const Request& request, RowTargets* targets) const;

  // Takes all queued requests that hold the same as `request` out of their lines, and ends their
  // rows: those with equal rows of equal shapes. The caller ends the requests. Compares two
  // requests no further than to their first difference. REQUIRES: the rows of `request` are live.
  void TakeEqual(const Request& request, std::vector<Request*>* equal);

  // Ends rows that were reserved. Their slab is freed when it is closed and they were the last.
  void EndRows(const RowPlace& place, uint32_t rows);

  // The lines in no particular order, which stays until a request of a new key arrives.
  absl::Span<const LineView> lines() const { return lines_; }
  LineView suspects() const { return ViewOf(suspects_); }

  // Takes a batch of at most `max_rows` rows from the head of a line. REQUIRES: the line is not
  // empty, and its head has at most that many rows.
  void Form(uint32_t line, uint32_t max_rows, FormedBatch* batch);

  // Takes the first suspect, alone. REQUIRES: there is one.
  void FormSuspect(FormedBatch* batch);

  // Take the queued requests whose deadline is not after `until_ns` out of one line (or
  // SchedulerDecision::kSuspects) or of all, and end their rows. The caller ends the requests.
  void TakeExpiredOf(uint32_t line, int64_t until_ns, std::vector<Request*>* expired);
  void TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

  // The most rows that a batch of the model has.
  uint32_t max_rows() const { return spec_->batches() ? spec_->max_batch_size : 1; }

  // Calls visit(const Request&) for each queued request.
  template <typename Visit>
  void ForEachQueued(Visit visit) const {
    for (const Request* request = suspects_.head(); request != nullptr; request = request->next) {
      visit(*request);
    }
    for (const KeyQueue* queue : line_queues_) {
      for (const Request* request = queue->waiting.head(); request != nullptr;
           request = request->next) {
        visit(*request);
      }
    }
  }

  // CHECKs the class's invariants. Slow: for tests.
  void CheckInvariants() const;

  // CHECKs that the runs of a batch cover the rows of its entries, each run within one slab.
  // REQUIRES: the rows are live. Slow: for tests.
  void CheckCovers(const FormedBatch& batch) const;

 private:
  // All requests of one shape key.
  struct KeyQueue {
    RequestList waiting;
    std::vector<uint64_t> row_bytes;  // of each input
    uint32_t row_capacity = 0;
    uint32_t bytes_inputs = 0;  // of datatype BYTES
    bool own_extents = false;   // its requests share no slab
    bool has_slab = false;
    uint32_t slab = 0;  // the open one, with has_slab
    uint32_t line = 0;  // index in lines_
    uint64_t last_used = 0;
  };

  void CheckQueued(const Request& request) const;

  static LineView ViewOf(const RequestList& list);
  void Show(const KeyQueue& queue) { lines_[queue.line] = ViewOf(queue.waiting); }

  KeyQueue* QueueOf(const Request& request);
  KeyQueue* AddQueue(const Request& request, std::unique_ptr<KeyQueue>* entry);
  absl::Status ReserveExtent(Request* request, RowTargets* targets);
  absl::StatusOr<uint32_t> LeaseSlab(uint64_t bytes, uint32_t rows);
  bool OpenSlab(KeyQueue* queue);
  void CloseSlab(KeyQueue* queue);
  void Place(Request* request, uint32_t slab, uint32_t first_row, RowTargets* targets);
  void CloseLeastRecentlyUsed();
  void ForgetIdleKeys(const KeyQueue* keep);
  void RemoveLine(uint32_t line);
  bool HasRoom(const FormedBatch& batch, const Request& request, const KeyQueue& queue,
               uint32_t max_rows) const;
  void Append(Request* request, FormedBatch* batch);
  void Drop(RequestList* list, Request* request, std::vector<Request*>* dropped);
  bool AreEqual(const Request& one, const Request& other) const;
  void TakeEqualFrom(RequestList* list, const Request& request, std::vector<Request*>* equal);
  void TakeExpiredFrom(RequestList* list, int64_t until_ns, std::vector<Request*>* expired);

  const ModelSpec* const spec_;
  SlabTable slabs_;
  absl::flat_hash_map<ShapeKey, std::unique_ptr<KeyQueue>> queues_;
  std::vector<LineView> lines_;         // one for each of queues_
  std::vector<KeyQueue*> line_queues_;  // whose line it is
  RequestList suspects_;
  uint64_t use_count_ = 0;
  uint64_t missed_bytes_ = 0;
};

}  // namespace mpsd
