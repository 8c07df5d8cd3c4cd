// InflightBatch: a batch that a lane has or had.
#pragma once

#include <cstdint>

#include "server/pool/batch/formed_batch.h"
#include "server/pool/lanes/output_lease.h"
#include "server/pool/lanes/slot_state.h"
#include "server/request/completed_batch.h"

namespace mpsd {

class LatencyCurve;
struct ResourceClaim;

// The front end's notes about a batch from its submission to its last reply. A value with the life
// of slot_state.h; thread-compatible. Owned by its slot of the InflightTable, under the pool's
// mutex. Then by the thread that gives its replies, without the mutex.
struct InflightBatch {
  SlotLife life;
  uint64_t id = 0;                 // BatchIdOf(); the completion must repeat it
  FormedBatch formed;              // its entries move to `completed` when the batch comes back
  OutputLease* lease = nullptr;    // holds one reference
  int64_t batched_ns = 0;          // when it left its line
  LatencyCurve* curve = nullptr;   // null: its time is not recorded
  ResourceClaim* claim = nullptr;  // null: it needs no resources
  CompletedBatch completed;        // filled when the batch comes back
};

}  // namespace mpsd
