// FormedBatch: the requests of a batch, and where their rows lie.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/shm/layout.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"

namespace mpsd {

// A value. Its vectors keep their memory in Clear(), so that an object that is used again allocates
// nothing once it has held a large batch.
struct FormedBatch {
  std::vector<BatchEntry> entries;
  std::vector<RowRun> runs;           // of the entries' rows, in the entries' order
  std::vector<RequestInput> inputs;   // the same for each entry: padded dims and row bytes
  std::vector<uint64_t> byte_counts;  // for each run, those of its BYTES inputs in their order
  uint32_t row_count = 0;
  int64_t latest_deadline_ns = 0;

  void Clear() {
    entries.clear();
    runs.clear();
    inputs.clear();
    byte_counts.clear();
    row_count = 0;
    latest_deadline_ns = 0;
  }
};

}  // namespace mpsd
