// RowAllocator: reserves rows for requests in slabs, so that rows of one shape lie together.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/pool/batch/slab_table.h"
#include "server/request/request.h"

namespace mpsd {

// Step 4 of a request. Owned by a Batcher. Thread-compatible: the pool's mutex guards it. A row's
// address is the same from Reserve() until EndRows().
//
// Requests with one shape key share the key's open slab, whose rows are given out in order. So
// requests that arrive in sequence are neighbours. A request gets an extent of its own, a slab that
// is closed at once, in three cases. It has a BYTES input, its rows are too large to share a slab,
// or no whole slab is available for its key.
//
// Invariants:
//  1. A shape key has at most one open slab. No other slab is open.
//  2. At most kMaxOpenSlabs keys are known: the least recently used is forgotten, its slab closed.
//  3. The invariants of SlabTable.
class RowAllocator {
 public:
  // `spec` outlives the allocator, and may change until the first Reserve().
  explicit RowAllocator(const ModelSpec* spec) : spec_(spec) {}

  SlabTable* slabs() { return &slabs_; }
  const SlabTable& slabs() const { return slabs_; }

  // RESOURCE_EXHAUSTED if no slab has room; the request is then unchanged.
  absl::Status Reserve(Request* request, RowTargets* targets);

  void EndRows(const RowPlace& place, uint32_t rows) { slabs_.EndRows(place.slab, rows); }

  // Whether both hold equal rows of equal shapes. REQUIRES: the rows of both are live and filled.
  bool HoldEqual(const Request& one, const Request& other) const;

  // The largest slab without room since the last call; 0: none.
  uint64_t TakeMissedBytes() { return std::exchange(missed_bytes_, 0); }

  // True if an open slab had no live rows.
  bool CloseIdleSlabs();

  // Slow: for tests.
  void CheckInvariants() const;

 private:
  struct Key {
    std::vector<uint64_t> row_bytes;  // one for each input
    uint32_t row_capacity = 0;
    bool own_extents = false;
    bool has_slab = false;
    uint32_t slab = 0;  // the open slab, if has_slab
    uint64_t last_used = 0;
  };

  Key* KeyOf(const Request& request);
  void Describe(const Request& request, Key* key) const;
  absl::Status ReserveExtent(Request* request, RowTargets* targets);
  absl::StatusOr<uint32_t> LeaseSlab(uint64_t bytes, uint32_t rows);
  bool OpenSlab(Key* key);
  void CloseSlab(Key* key);
  void Place(Request* request, uint32_t slab, uint32_t first_row, RowTargets* targets);
  void ForgetLeastRecentlyUsed();

  const ModelSpec* const spec_;
  SlabTable slabs_;
  absl::flat_hash_map<ShapeKey, std::unique_ptr<Key>> keys_;
  uint64_t use_count_ = 0;
  uint64_t missed_bytes_ = 0;
};

}  // namespace mpsd
