// FormedBatch: the requests of a batch, and where their rows lie.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/shm/layout.h"
#include "server/batch/slab_table.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"

namespace mpsd {

// What the front end itself knows of a batch, from the moment it is formed until its completion is
// split into answers (steps 7 to 12 of a request's life). The worker gets a copy of `runs`,
// `inputs` and `byte_counts` in a batch record; what it answers is checked against these. A value;
// thread-compatible. Its vectors keep their memory in Clear(), so that an object that is used again
// allocates nothing once it has held a large batch.
//
// Rows that lie next to each other in one slab are one run, so a batch of requests that arrived one
// after the other is read where it lies, without a copy:
//
//   entries   | request A: 2 rows | request B: 1 row | request C: 4 rows |
//   rows      | 0 1               | 2                | 3 4 5 6            |
//   runs      | slab 3, rows 5 to 7                  | slab 4, rows 0 to 3 |
//
// Part of an InflightBatch. Filled by Batcher::Form(), one request after the other. At most
// kMaxBatchRows rows, kMaxRuns runs, and kMaxByteCounts byte counts. A request that ends while the
// batch runs leaves a hole: its entry's pointer becomes null, its rows stay part of the batch.
//
// Invariants, which CheckCovers() holds it to:
//  1. The runs cover the rows of the entries, in their order, and nothing else.
//  2. A run lies in one slab: two slabs are never joined, although they may touch in memory.
struct FormedBatch {
  std::vector<BatchEntry> entries;
  std::vector<RowRun> runs;           // of the entries' rows, in the entries' order
  std::vector<RequestInput> inputs;   // the same for each entry: padded dims and row bytes
  std::vector<uint64_t> byte_counts;  // for each run, those of its BYTES inputs in their order
  uint32_t bytes_inputs = 0;          // how many of `inputs` are BYTES
  uint32_t row_count = 0;
  int64_t latest_deadline_ns = 0;  // of the entries; after this the worker may skip the batch

  // The batch has no entries again; the vectors keep their memory.
  void Clear();

  // True when a batch of at most `max_rows` rows can take the request too: by rows, and by what a
  // batch record has room for, where the request counts as a run of its own even if its rows would
  // continue the last one. REQUIRES: the request has the shape key of the entries.
  bool HasRoom(const Request& request, uint32_t max_rows) const;

  // The request runs in this batch, and is kRunning from now on. `slab` is where its rows lie. The
  // first request says what the inputs are. REQUIRES: the request is queued and in no list, and
  // HasRoom() was true.
  void Append(Request* request, const Slab& slab);
};

// CHECKs the invariants. REQUIRES: the rows are live. Slow: for tests.
void CheckCovers(const FormedBatch& batch, const SlabTable& slabs);

}  // namespace mpsd
