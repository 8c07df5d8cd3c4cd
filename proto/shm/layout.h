// The layout of shared memory, byte for byte. Data only: behaviour is in ring.h, doorbell.h and the
// two sides' own readers and writers.
//
// Every segment has one writing process. Slab segments and mailboxes are written by the front end
// and mapped read-only by workers; a worker segment is written by its worker and mapped read-only
// by the front end, which treats every word in it as hostile.
//
// slab segment     SegmentHeader · slabs of request rows, each at a 64-byte-aligned offset
// mailbox          SegmentHeader · MailboxPage · LaneMailbox × lanes
// worker segment   SegmentHeader · WorkerPage · LaneReport × lanes · output area (page-aligned)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "proto/base/limits.h"

namespace mpsd {

inline constexpr uint64_t kSegmentMagic = 0x3164'7370'6d2d'6d73ULL;
inline constexpr uint32_t kLayoutVersion = 4;

enum class SegmentKind : uint32_t { kSlabs = 1, kMailbox = 2, kWorker = 3 };

using SharedWord = std::atomic<uint32_t>;
static_assert(SharedWord::is_always_lock_free);
static_assert(sizeof(SharedWord) == 4);

struct alignas(kCacheLineBytes) SegmentHeader {
  uint64_t magic;
  uint32_t version;
  SegmentKind kind;
  uint64_t layout_hash;
  uint64_t bytes;
  uint32_t page_bytes;
  uint32_t epoch;  // of the worker incarnation; 0 for slabs
};
static_assert(sizeof(SegmentHeader) == kCacheLineBytes);

// ---- front end → lane ----

// Rows that are neighbours in one slab. Input i of row r is at
// segment + slab_offset + region(i) + r * row_bytes(i), where region(i) is the sum over the inputs
// before it of row_capacity * row_bytes, rounded up to 64. Where an input is BYTES the run is one
// request that has the slab to itself (first_row is 0, row_capacity is row_count), and the region
// of a BYTES input is its byte count of BatchRecord::byte_counts, rounded up to 64.
struct RowRun {
  uint32_t segment;
  uint32_t row_capacity;
  uint32_t first_row;
  uint32_t row_count;
  uint64_t slab_offset;
};
static_assert(sizeof(RowRun) == 24);

struct InputRecord {
  uint32_t datatype;
  uint32_t rank;  // without the batch dim
  int64_t dims[kMaxRank];
  uint64_t row_bytes;  // 0 for BYTES, whose rows differ
};
static_assert(sizeof(InputRecord) == 80);

// The job as written by the front end. Immutable from the moment its ring entry is published until
// the completion is consumed, but for `cancelled`.
struct alignas(kCacheLineBytes) BatchRecord {
  uint64_t batch_id;       // never used twice in the life of a front end
  int64_t live_until_ns;   // monotonic: the latest deadline of its requests
  uint64_t output_offset;  // the output lease, in the worker's segment
  uint64_t output_bytes;
  uint32_t row_count;
  uint32_t run_count;
  uint32_t input_count;
  uint32_t has_batch_dim;
  SharedWord cancelled;   // 1: all its requests have ended
  uint32_t answer_index;  // which answer of a decoupled model's request is asked for
  uint32_t reserved[2];
  InputRecord inputs[kMaxTensors];
  RowRun runs[kMaxRuns];
  // Of the k-th BYTES input of run r, counted among the record's `n` BYTES inputs: [r * n + k].
  uint64_t byte_counts[kMaxByteCounts];
};

// A ring's entries share the line of its tail: the peer, which looks at the tail, has them with it.
struct LaneMailbox {
  alignas(kCacheLineBytes) SharedWord submit_tail;  // written with each submitted batch
  SharedWord submit_entries[kRingEntries];
  alignas(kCacheLineBytes) SharedWord sequence;         // the word a parked lane sleeps on
  alignas(kCacheLineBytes) SharedWord completion_head;  // completions consumed so far
  BatchRecord records[kRingEntries];
};

struct alignas(kCacheLineBytes) MailboxPage {
  SharedWord front_parked;  // 1: ring the bell after publishing a completion
};

// ---- lane → front end ----

enum class BatchOutcome : uint32_t {
  kInvalid = 0,
  kDone = 1,            // rows have their own status; of models that are not decoupled
  kFailed = 2,          // the model threw; `text` says what
  kSkipped = 3,         // no live row was left
  kOutputTooLarge = 4,  // needs a lease of `output_bytes_needed`
  kAnswer = 5,          // a decoupled model's answer of that index; the next may be asked for
  kNoAnswer = 6         // a decoupled model's request has no answer of that index, nor further ones
};

struct OutputRecord {
  uint32_t datatype;
  uint32_t rank;  // with the batch dim
  int64_t dims[kMaxRank + 1];
  uint64_t offset;  // in the output lease
  uint64_t bytes;
};
static_assert(sizeof(OutputRecord) == 96);

// The outcome as written by the worker.
struct alignas(kCacheLineBytes) CompletionRecord {
  uint64_t batch_id;
  BatchOutcome outcome;
  uint32_t row_count;
  uint32_t output_count;
  uint32_t text_bytes;
  uint64_t output_bytes_needed;
  int64_t started_ns;   // monotonic: the lane took the batch
  int64_t finished_ns;  // monotonic: the outputs lie in the lease
  OutputRecord outputs[kMaxTensors];
  uint8_t row_failed[kMaxBatchRows];
  char text[kErrorTextBytes];
};

struct LaneReport {
  alignas(kCacheLineBytes) SharedWord submit_head;      // batches taken so far
  alignas(kCacheLineBytes) SharedWord parked;           // 1: sleeps on LaneMailbox::sequence
  alignas(kCacheLineBytes) SharedWord completion_tail;  // written with each completion
  SharedWord timeout_wakeups;                           // found work only when the time-out came
  SharedWord heartbeat;
  SharedWord announced;  // completions announced so far: their bell was rung, or needed none
  SharedWord completion_entries[kRingEntries];
  CompletionRecord records[kRingEntries];
};

struct alignas(kCacheLineBytes) WorkerPage {
  uint32_t lanes;
};

// ---- sizes and places ----

inline constexpr uint64_t kLaneAreaOffset = 2 * kCacheLineBytes;
static_assert(sizeof(MailboxPage) == kCacheLineBytes);
static_assert(sizeof(WorkerPage) == kCacheLineBytes);
static_assert(alignof(LaneMailbox) == kCacheLineBytes);
static_assert(alignof(LaneReport) == kCacheLineBytes);

constexpr uint64_t MailboxBytes(uint32_t lanes, uint64_t page_bytes) {
  const uint64_t bytes = kLaneAreaOffset + lanes * sizeof(LaneMailbox);
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// Where the output area begins; the segment ends `output area` bytes later.
constexpr uint64_t OutputAreaOffset(uint32_t lanes, uint64_t page_bytes) {
  const uint64_t bytes = kLaneAreaOffset + lanes * sizeof(LaneReport);
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// Both sides compute it from their own headers; a worker of another build is refused at attach.
constexpr uint64_t LayoutHash() {
  uint64_t hash = 14695981039346656037ULL;
  const uint64_t facts[] = {kLayoutVersion,
                            sizeof(BatchRecord),
                            sizeof(CompletionRecord),
                            sizeof(LaneMailbox),
                            sizeof(LaneReport),
                            offsetof(BatchRecord, answer_index),
                            offsetof(BatchRecord, inputs),
                            offsetof(BatchRecord, runs),
                            offsetof(BatchRecord, byte_counts),
                            offsetof(CompletionRecord, outputs),
                            offsetof(CompletionRecord, row_failed),
                            offsetof(CompletionRecord, text),
                            offsetof(LaneMailbox, records),
                            offsetof(LaneReport, records),
                            kRingEntries,
                            kMaxRank,
                            kMaxTensors};
  for (const uint64_t fact : facts) hash = (hash ^ fact) * 1099511628211ULL;
  return hash;
}

}  // namespace mpsd
