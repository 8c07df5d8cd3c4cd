// WriteBatchRecord: writes a formed batch into a batch record of a mailbox.
#pragma once

#include <cstdint>

#include "proto/shm/layout.h"
#include "server/batch/formed_batch.h"
#include "server/lanes/output_lease.h"

namespace mpsd {

// The lane may read the record once its slot is published. REQUIRES: the slot is free: its
// completion was consumed, or it was never used. Thread-compatible: guarded by the pool's mutex.
void WriteBatchRecord(const FormedBatch& formed, uint64_t batch_id, const OutputLease& lease,
                      bool has_batch_dim, uint32_t answer_index, BatchRecord* record);

}  // namespace mpsd
