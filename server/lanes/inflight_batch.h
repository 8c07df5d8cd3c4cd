// InflightBatch: a batch that a lane has, or had.
#pragma once

#include <cstdint>

#include "server/batch/formed_batch.h"
#include "server/lanes/output_lease.h"
#include "server/lanes/slot_state.h"
#include "server/request/completed_batch.h"

namespace mpsd {

class LatencyCurve;
struct ResourceClaim;

// What the front end notes of a batch while others have it, from its submission to its last reply
// (steps 7 to 13 of a request's life). A value with the life of slot_state.h; thread-compatible.
// Owned by its slot of the InflightTable, where the pool's mutex guards it; then by the thread that
// gives its replies, without the mutex; then by the Dispatcher, which uses it again: once it has
// held a large batch, the next costs no allocation.
//
// The batch record in shared memory is a copy of a part of this. It is never read back: a worker
// cannot write to it, but nothing here should depend on that.
struct InflightBatch {
  SlotLife life;
  uint64_t id = 0;                 // BatchIdOf(); the completion has to repeat it
  FormedBatch formed;              // its entries move to `completed` when the batch comes back
  OutputLease* lease = nullptr;    // holds one reference
  int64_t batched_ns = 0;          // when it left its line
  LatencyCurve* curve = nullptr;   // of its line; null: its time teaches nothing
  ResourceClaim* claim = nullptr;  // that holds resources for it; null: it needs none
  CompletedBatch completed;        // filled when the batch comes back
};

}  // namespace mpsd
