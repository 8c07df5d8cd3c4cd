// WriteBatchRecord: writes a formed batch into a batch record of a mailbox.
#pragma once

#include <cstdint>

#include "proto/shm/layout.h"
#include "server/batch/formed_batch.h"
#include "server/lanes/output_lease.h"

namespace mpsd {

// Step 7 of a request's life, front end → worker. A batch record says in fixed-size words what a
// lane has to know: the batch's id, the runs of rows in the slabs, the padded dims of each input,
// how many bytes each BYTES input of a run has, and the extent that the outputs go into. It holds
// no pointer and no payload. proto/shm/layout.h has its fields; what does not fit is refused before
// (FormedBatch::HasRoom), so that writing cannot fail.
//
// `answer_index` counts the answers of a decoupled model: the first batch of a request asks for
// answer 0. Without a batch dim (`has_batch_dim` false) the model gets one request's rows as they
// are.
//
// The lane may read the record once its slot's number is in the submit ring, and not before: the
// ring's release store publishes it. REQUIRES: the slot is free: its completion was consumed, or it
// was never used. Thread-compatible: guarded by the pool's mutex.
void WriteBatchRecord(const FormedBatch& formed, uint64_t batch_id, const OutputLease& lease,
                      bool has_batch_dim, uint32_t answer_index, BatchRecord* record);

}  // namespace mpsd
