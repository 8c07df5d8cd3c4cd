// FormedBatch: the requests of a batch, and where their rows lie.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/shm/layout.h"
#include "server/pool/batch/slab_table.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"

namespace mpsd {

// The front end's record of a batch, against which the worker's answer is checked. A value;
// thread-compatible. Reused objects allocate nothing. Neighbouring rows of one slab form a run:
//
//   entries   | request A: 2 rows | request B: 1 row | request C: 4 rows |
//   rows      | 0 1               | 2                | 3 4 5 6            |
//   runs      | slab 3, rows 5 to 7                  | slab 4, rows 0 to 3 |
//
// At most kMaxBatchRows rows, kMaxRuns runs and kMaxByteCounts byte counts. A request that ends
// while the batch runs leaves a hole: its entry's pointer becomes null, and its rows stay in the
// batch.
//
// Invariants, checked by CheckCovers():
//  1. The runs cover the rows of the entries, in their order, and nothing else.
//  2. A run lies in one slab, even if the next slab is adjacent in memory.
struct FormedBatch {
  std::vector<BatchEntry> entries;
  std::vector<RowRun> runs;
  std::vector<RequestInput> inputs;   // the same for each entry: padded dims and row bytes
  std::vector<uint64_t> byte_counts;  // per run: sizes of its BYTES inputs, in order
  uint32_t bytes_inputs = 0;          // inputs that are BYTES
  uint32_t row_count = 0;
  int64_t latest_deadline_ns = 0;  // the worker may skip the batch after it

  void Clear();

  // Looks at the rows and the batch record; the request counts as a new run. REQUIRES: the request
  // has the shape key of the entries.
  bool HasRoom(const Request& request, uint32_t max_rows) const;

  // `slab` holds the request's rows. REQUIRES: the request is queued and in no list, and HasRoom()
  // was true.
  void Append(Request* request, const Slab& slab);
};

// REQUIRES: the rows are live. Slow: for tests.
void CheckCovers(const FormedBatch& batch, const SlabTable& slabs);

}  // namespace mpsd
