// InflightBatch: a batch that a lane has, or had.
#pragma once

#include <cstdint>

#include "server/batch/formed_batch.h"
#include "server/lanes/output_lease.h"
#include "server/lanes/slot_state.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// A value with the life of slot_state.h. Owned by its slot of the InflightTable, then by the thread
// that gives its replies, then by the dispatcher, which uses it again.
struct InflightBatch {
  SlotLife life;
  uint64_t id = 0;
  FormedBatch formed;            // its entries move to `completed` when the batch comes back
  OutputLease* lease = nullptr;  // holds one reference
  int64_t batched_ns = 0;
  CompletedBatch completed;
};

}  // namespace mpsd
