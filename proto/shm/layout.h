// layout: the content of shared memory, byte for byte. docs/shared-memory-format.md describes the
// same for other implementations; a test compares the two.
//
// Invariants:
//   1. Every segment has one writing process, and so has every byte.
//   2. The front end writes slab segments and mailboxes; workers map them read-only.
//   3. A worker writes its worker segment. The front end maps it read-only and treats every word in
//      it as hostile: it copies a record once, and checks the copy.
//   4. There are no pointers, only offsets from a segment's beginning.
//
//   slab segment     SegmentHeader · slabs of request rows, each at a 64-byte-aligned offset
//   mailbox          SegmentHeader · MailboxPage · LaneMailbox × lanes
//   worker segment   SegmentHeader · WorkerPage · LaneReport × lanes · output area (page-aligned)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "proto/base/limits.h"

namespace mpsd {

inline constexpr uint64_t kSegmentMagic = 0x3164'7370'6d2d'6d73ULL;
inline constexpr uint32_t kLayoutVersion = 6;

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
  uint32_t epoch;  // epoch of the worker's incarnation; 0 for slab segments
};
static_assert(sizeof(SegmentHeader) == kCacheLineBytes);

// ---- front end → lane ----

// Consecutive rows of one slab. Input i of row r lies at segment + slab_offset + region(i) + r *
// row_bytes(i). region(i) is the sum, over the inputs before i, of row_capacity * row_bytes rounded
// up to 64.
//
// If an input is BYTES, the run is one request with a slab of its own: first_row is 0, and
// row_capacity equals row_count. The input's region has BatchRecord::byte_counts bytes, rounded up
// to 64.
struct RowRun {
  uint32_t segment;
  uint32_t row_capacity;
  uint32_t first_row;
  uint32_t row_count;
  uint64_t slab_offset;
};
static_assert(sizeof(RowRun) == 24);

// Follows the model's spec, with unknown dims filled in.
struct InputRecord {
  uint32_t datatype;
  uint32_t rank;  // without the batch dim
  int64_t dims[kMaxRank];
  uint64_t row_bytes;  // 0 for BYTES
};
static_assert(sizeof(InputRecord) == 80);

// The job of a slot. From the store that publishes its ring entry until the front end has consumed
// its completion, only `cancelled` may change.
struct alignas(kCacheLineBytes) BatchRecord {
  uint64_t batch_id;       // never reused
  int64_t live_until_ns;   // monotonic: its requests' latest deadline
  uint64_t output_offset;  // the output lease, in the worker's segment
  uint64_t output_bytes;
  uint32_t row_count;
  uint32_t run_count;
  uint32_t input_count;
  uint32_t has_batch_dim;
  SharedWord cancelled;   // 1: all requests have ended
  uint32_t answer_index;  // index of the requested answer; for decoupled models
  uint32_t reserved[2];
  InputRecord inputs[kMaxTensors];
  RowRun runs[kMaxRuns];
  // The k-th BYTES input of run r has [r * n + k], if the record has n BYTES inputs.
  uint64_t byte_counts[kMaxByteCounts];
};

// Written by the front end for one lane. A ring's entries share a cache line with its tail, so a
// peer that reads the tail gets the entries too.
struct LaneMailbox {
  alignas(kCacheLineBytes) SharedWord submit_tail;  // batches submitted so far
  SharedWord submit_entries[kRingEntries];
  alignas(kCacheLineBytes) SharedWord sequence;         // the word that a parked lane sleeps on
  alignas(kCacheLineBytes) SharedWord completion_head;  // completions consumed so far
  BatchRecord records[kRingEntries];
};

// Written by the front end for all lanes of a worker.
struct alignas(kCacheLineBytes) MailboxPage {
  SharedWord front_parked;     // 1: ring the bell after publishing a completion
  SharedWord memory_pressure;  // the host's MemoryPressure
  SharedWord cores_are_left;   // 1: an idle lane may look on before it sleeps
};

// ---- lane → front end ----

enum class BatchOutcome : uint32_t {
  kInvalid = 0,
  kDone = 1,            // each row has its own status; not for decoupled models
  kFailed = 2,          // the model threw: see `text`
  kSkipped = 3,         // no live row was left
  kOutputTooLarge = 4,  // needs a lease of `output_bytes_needed`
  kAnswer = 5,          // has the requested index; the next one may be asked for
  kNoAnswer = 6         // there is no answer with that index, and no later one
};

// An output lies in the lease.
struct OutputRecord {
  uint32_t datatype;
  uint32_t rank;  // with the batch dim
  int64_t dims[kMaxRank + 1];
  uint64_t offset;  // in the output lease
  uint64_t bytes;
};
static_assert(sizeof(OutputRecord) == 96);

// The outcome of a slot's batch. The front end reads it after the completion ring has the slot's
// number, and checks everything in it.
struct alignas(kCacheLineBytes) CompletionRecord {
  uint64_t batch_id;
  BatchOutcome outcome;
  uint32_t row_count;
  uint32_t output_count;
  uint32_t text_bytes;
  uint64_t output_bytes_needed;
  int64_t started_ns;        // monotonic: when the lane took the batch
  int64_t finished_ns;       // monotonic: when the outputs lay in the lease
  uint64_t computed_tokens;  // tokens of a finished batch; 0 if the model takes no tokens
  uint64_t padding_tokens;   // part of computed_tokens
  OutputRecord outputs[kMaxTensors];
  uint8_t row_failed[kMaxBatchRows];
  char text[kErrorTextBytes];
};

// Written by a lane for the front end.
struct LaneReport {
  alignas(kCacheLineBytes) SharedWord submit_head;  // batches taken so far
  alignas(kCacheLineBytes) SharedWord parked;       // 1: the lane sleeps on LaneMailbox::sequence
  alignas(kCacheLineBytes) SharedWord completion_tail;  // completions published so far
  SharedWord timeout_wakeups;  // sleeps whose work was found only at the time-out
  SharedWord heartbeat;
  SharedWord announced;  // completions whose bell was rung, or needed no ringing
  SharedWord completion_entries[kRingEntries];
  SharedWord keep_warm_runs;  // runs without a batch, to keep the model warm
  SharedWord memory_trims;    // times that unused memory was given back
  CompletionRecord records[kRingEntries];
};

// Written by a worker for all its lanes.
struct alignas(kCacheLineBytes) WorkerPage {
  uint32_t lanes;
};

// ---- sizes and places ----

// Where the first LaneMailbox or LaneReport lies in its segment.
inline constexpr uint64_t kLaneAreaOffset = 2 * kCacheLineBytes;
static_assert(sizeof(MailboxPage) == kCacheLineBytes);
static_assert(sizeof(WorkerPage) == kCacheLineBytes);
static_assert(alignof(LaneMailbox) == kCacheLineBytes);
static_assert(alignof(LaneReport) == kCacheLineBytes);

constexpr uint64_t MailboxBytes(uint32_t lanes, uint64_t page_bytes) {
  const uint64_t bytes = kLaneAreaOffset + lanes * sizeof(LaneMailbox);
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// The output area reaches to the end of the worker segment.
constexpr uint64_t OutputAreaOffset(uint32_t lanes, uint64_t page_bytes) {
  const uint64_t bytes = kLaneAreaOffset + lanes * sizeof(LaneReport);
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// A worker with another hash is refused when it attaches.
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
