// FakeWorker: the worker's side of a WorkerLink inside the test, honest or not.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/clock.h"
#include "proto/shm/layout.h"
#include "proto/shm/segment.h"
#include "server/pool/batch/slab_table.h"
#include "server/pool/lanes/worker_link.h"

namespace mpsd {

// Maps the link's segments as a worker process does: mailbox and slabs read-only, its own segment
// writable. Thread-compatible lane by lane: one thread at a time uses a lane, and other threads may
// use other lanes meanwhile.
class FakeWorker {
 public:
  // A batch that a lane took.
  struct Job {
    uint32_t lane = 0;
    uint32_t slot = 0;
    uint64_t batch_id = 0;
    uint32_t row_count = 0;
    uint32_t run_count = 0;
    uint32_t answer_index = 0;
    uint64_t output_bytes = 0;        // of the lease
    char* output = nullptr;           // the lease
    std::vector<std::string> inputs;  // gathered, one for each input
    std::vector<Dims> row_dims;
    std::vector<DataType> datatypes;
  };

  // `slabs` are the descriptors that a pool has for its workers; the link outlives this.
  FakeWorker(const WorkerLink& link, const std::vector<SlabSegment>& slabs, const Clock* clock);

  // Maps a further segment of the pool.
  void AddSlabs(const SlabSegment& segment);

  // Takes the next batch of a lane's submit ring; nothing when the ring is empty.
  std::optional<Job> Take(uint32_t lane = 0);

  // True when the front end has said that nobody waits for the batch.
  bool Cancelled(const Job& job) const;

  // Writes an honest completion, with output i equal to input i bit for bit, and publishes it.
  void Complete(const Job& job);

  // The same, as an answer of a decoupled model.
  void Answer(const Job& job);

  // The parts of Complete(), for tests that lie in between.
  CompletionRecord* WriteRecord(const Job& job);
  void Publish(const Job& job) { Publish(job.lane, job.slot); }
  void Publish(uint32_t lane, uint32_t entry);

  // Completes the batch without outputs.
  void CompleteWith(const Job& job, BatchOutcome outcome, const std::string& text,
                    uint64_t needed_bytes = 0);

  LaneReport* report(uint32_t lane) {
    return reinterpret_cast<LaneReport*>(segment_.data() + kLaneAreaOffset) + lane;
  }
  const LaneMailbox& mailbox(uint32_t lane) const {
    return reinterpret_cast<const LaneMailbox*>(mailbox_.data() + kLaneAreaOffset)[lane];
  }
  const MailboxPage& mailbox_page() const {
    return *reinterpret_cast<const MailboxPage*>(mailbox_.data() + sizeof(SegmentHeader));
  }
  MappedSegment& segment() { return segment_; }
  uint32_t lanes() const { return static_cast<uint32_t>(next_.size()); }

 private:
  void Gather(const BatchRecord& record, Job* job) const;

  const Clock* const clock_;
  MappedSegment mailbox_;
  MappedSegment segment_;
  std::map<uint32_t, MappedSegment> slabs_;  // by number
  std::vector<uint32_t> next_;               // for each lane, submitted batches taken
  std::vector<uint32_t> completed_;          // for each lane, completions published

  // Orders the lanes' uses of a lease for the thread sanitizer. The front end orders them already,
  // but through mappings of its own, which the sanitizer does not see.
  std::atomic<uint32_t> published_{0};
};

}  // namespace mpsd
