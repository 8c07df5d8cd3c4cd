// WriteBatchRecord: writes a formed batch into a batch record of a mailbox.
#pragma once

#include <cstdint>

#include "proto/shm/layout.h"
#include "server/pool/batch/formed_batch.h"
#include "server/pool/lanes/output_lease.h"

namespace mpsd {

// Step 7 of a request, front end → worker. Writing cannot fail: FormedBatch::HasRoom() has refused
// anything that does not fit. The submit ring's release store publishes the record.
//
// `answer_index` counts the answers of a decoupled model, from 0. REQUIRES: the slot is free.
// Thread-compatible: the pool's mutex guards it.
void WriteBatchRecord(const FormedBatch& formed, uint64_t batch_id, const OutputLease& lease,
                      bool has_batch_dim, uint32_t answer_index, BatchRecord* record);

}  // namespace mpsd
