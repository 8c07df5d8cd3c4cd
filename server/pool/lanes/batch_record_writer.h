// WriteBatchRecord: writes a formed batch into a batch record of a mailbox.
#pragma once

#include <cstdint>

#include "proto/shm/layout.h"
#include "server/pool/batch/formed_batch.h"
#include "server/pool/lanes/output_lease.h"

namespace mpsd {

// Step 7 of a request's life, front end → worker. A batch record holds fixed-size words, no pointer
// and no payload. It names the batch, the runs of rows, the padded dims of each input, the size of
// each BYTES input per run, and the output extent. Its fields are in proto/shm/layout.h. Writing
// cannot fail, because FormedBatch::HasRoom() has refused anything that does not fit.
//
// `answer_index` counts the answers of a decoupled model, from 0 for a request's first batch.
// Without a batch dim (`has_batch_dim` false) the model gets one request's rows as they are.
//
// The lane reads the record once its slot's number is in the submit ring: the ring's release store
// publishes it. REQUIRES: the slot is free: its completion was consumed, or it was never used.
// Thread-compatible: guarded by the pool's mutex.
void WriteBatchRecord(const FormedBatch& formed, uint64_t batch_id, const OutputLease& lease,
                      bool has_batch_dim, uint32_t answer_index, BatchRecord* record);

}  // namespace mpsd
