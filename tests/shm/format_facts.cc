// Prints what docs/shared-memory-format.md says in its tables: the size of each structure, place
// and size of each of its fields, and the constants.
#include <cinttypes>
#include <cstddef>
#include <cstdio>

#include "proto/shm/layout.h"

namespace mpsd {
namespace {

void Print(const char* name, uint64_t offset, uint64_t bytes) {
  std::printf("%s %" PRIu64 " %" PRIu64 "\n", name, offset, bytes);
}

#define MPSD_STRUCT(type) Print(#type, 0, sizeof(type))
#define MPSD_FIELD(type, field) Print(#type "." #field, offsetof(type, field), sizeof(type::field))
#define MPSD_CONSTANT(name) Print(#name, name, 0)

void PrintFrontEndStructs() {
  MPSD_STRUCT(SegmentHeader);
  MPSD_FIELD(SegmentHeader, magic);
  MPSD_FIELD(SegmentHeader, version);
  MPSD_FIELD(SegmentHeader, kind);
  MPSD_FIELD(SegmentHeader, layout_hash);
  MPSD_FIELD(SegmentHeader, bytes);
  MPSD_FIELD(SegmentHeader, page_bytes);
  MPSD_FIELD(SegmentHeader, epoch);
  MPSD_STRUCT(MailboxPage);
  MPSD_FIELD(MailboxPage, front_parked);
  MPSD_FIELD(MailboxPage, memory_pressure);
  MPSD_FIELD(MailboxPage, cores_are_left);
  MPSD_STRUCT(LaneMailbox);
  MPSD_FIELD(LaneMailbox, submit_tail);
  MPSD_FIELD(LaneMailbox, sequence);
  MPSD_FIELD(LaneMailbox, completion_head);
  MPSD_FIELD(LaneMailbox, submit_entries);
  MPSD_FIELD(LaneMailbox, records);
  MPSD_STRUCT(BatchRecord);
  MPSD_FIELD(BatchRecord, batch_id);
  MPSD_FIELD(BatchRecord, live_until_ns);
  MPSD_FIELD(BatchRecord, output_offset);
  MPSD_FIELD(BatchRecord, output_bytes);
  MPSD_FIELD(BatchRecord, row_count);
  MPSD_FIELD(BatchRecord, run_count);
  MPSD_FIELD(BatchRecord, input_count);
  MPSD_FIELD(BatchRecord, has_batch_dim);
  MPSD_FIELD(BatchRecord, cancelled);
  MPSD_FIELD(BatchRecord, answer_index);
  MPSD_FIELD(BatchRecord, reserved);
  MPSD_FIELD(BatchRecord, inputs);
  MPSD_FIELD(BatchRecord, runs);
  MPSD_FIELD(BatchRecord, byte_counts);
  MPSD_STRUCT(InputRecord);
  MPSD_FIELD(InputRecord, datatype);
  MPSD_FIELD(InputRecord, rank);
  MPSD_FIELD(InputRecord, dims);
  MPSD_FIELD(InputRecord, row_bytes);
  MPSD_STRUCT(RowRun);
  MPSD_FIELD(RowRun, segment);
  MPSD_FIELD(RowRun, row_capacity);
  MPSD_FIELD(RowRun, first_row);
  MPSD_FIELD(RowRun, row_count);
  MPSD_FIELD(RowRun, slab_offset);
}

void PrintWorkerStructs() {
  MPSD_STRUCT(WorkerPage);
  MPSD_FIELD(WorkerPage, lanes);
  MPSD_STRUCT(LaneReport);
  MPSD_FIELD(LaneReport, submit_head);
  MPSD_FIELD(LaneReport, parked);
  MPSD_FIELD(LaneReport, completion_tail);
  MPSD_FIELD(LaneReport, timeout_wakeups);
  MPSD_FIELD(LaneReport, heartbeat);
  MPSD_FIELD(LaneReport, announced);
  MPSD_FIELD(LaneReport, completion_entries);
  MPSD_FIELD(LaneReport, keep_warm_runs);
  MPSD_FIELD(LaneReport, memory_trims);
  MPSD_FIELD(LaneReport, records);
  MPSD_STRUCT(CompletionRecord);
  MPSD_FIELD(CompletionRecord, batch_id);
  MPSD_FIELD(CompletionRecord, outcome);
  MPSD_FIELD(CompletionRecord, row_count);
  MPSD_FIELD(CompletionRecord, output_count);
  MPSD_FIELD(CompletionRecord, text_bytes);
  MPSD_FIELD(CompletionRecord, output_bytes_needed);
  MPSD_FIELD(CompletionRecord, started_ns);
  MPSD_FIELD(CompletionRecord, finished_ns);
  MPSD_FIELD(CompletionRecord, computed_tokens);
  MPSD_FIELD(CompletionRecord, padding_tokens);
  MPSD_FIELD(CompletionRecord, outputs);
  MPSD_FIELD(CompletionRecord, row_failed);
  MPSD_FIELD(CompletionRecord, text);
  MPSD_STRUCT(OutputRecord);
  MPSD_FIELD(OutputRecord, datatype);
  MPSD_FIELD(OutputRecord, rank);
  MPSD_FIELD(OutputRecord, dims);
  MPSD_FIELD(OutputRecord, offset);
  MPSD_FIELD(OutputRecord, bytes);
}

void PrintConstants() {
  MPSD_CONSTANT(kSegmentMagic);
  MPSD_CONSTANT(kLayoutVersion);
  MPSD_CONSTANT(kLaneAreaOffset);
  MPSD_CONSTANT(kCacheLineBytes);
  MPSD_CONSTANT(kTensorAlignment);
  MPSD_CONSTANT(kRingEntries);
  MPSD_CONSTANT(kMaxLaneDepth);
  MPSD_CONSTANT(kMaxLanes);
  MPSD_CONSTANT(kMaxTensors);
  MPSD_CONSTANT(kMaxRank);
  MPSD_CONSTANT(kMaxRuns);
  MPSD_CONSTANT(kMaxBatchRows);
  MPSD_CONSTANT(kMaxSlabSegments);
  MPSD_CONSTANT(kMaxAnswers);
  MPSD_CONSTANT(kErrorTextBytes);
}

}  // namespace
}  // namespace mpsd

int main() {
  mpsd::PrintFrontEndStructs();
  mpsd::PrintWorkerStructs();
  mpsd::PrintConstants();
  return 0;
}
