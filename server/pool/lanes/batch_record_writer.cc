#include "server/pool/lanes/batch_record_writer.h"

#include <algorithm>

#include "proto/base/check.h"

namespace mpsd {

void WriteBatchRecord(const FormedBatch& formed, uint64_t batch_id, const OutputLease& lease,
                      bool has_batch_dim, uint32_t answer_index, BatchRecord* record) {
  MPSD_CHECK(formed.inputs.size() <= kMaxTensors && formed.runs.size() <= kMaxRuns);
  MPSD_CHECK(formed.byte_counts.size() <= kMaxByteCounts);
  record->batch_id = batch_id;
  record->live_until_ns = formed.latest_deadline_ns;
  record->output_offset = lease.offset();
  record->output_bytes = lease.bytes();
  record->row_count = formed.row_count;
  record->run_count = static_cast<uint32_t>(formed.runs.size());
  record->input_count = static_cast<uint32_t>(formed.inputs.size());
  record->has_batch_dim = has_batch_dim ? 1 : 0;
  record->cancelled.store(0, std::memory_order_relaxed);
  record->answer_index = answer_index;
  for (size_t i = 0; i < formed.inputs.size(); ++i) {
    const RequestInput& source = formed.inputs[i];
    InputRecord& target = record->inputs[i];
    target.rank = static_cast<uint32_t>(source.padded_dims.size());
    target.datatype = static_cast<uint32_t>(source.datatype);
    std::copy(source.padded_dims.begin(), source.padded_dims.end(), target.dims);
    target.row_bytes = source.row_bytes;
  }
  std::copy(formed.runs.begin(), formed.runs.end(), record->runs);
  std::copy(formed.byte_counts.begin(), formed.byte_counts.end(), record->byte_counts);
}

}  // namespace mpsd
