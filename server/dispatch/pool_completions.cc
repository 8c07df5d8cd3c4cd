// Pool: from the lanes to the replies.

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "server/dispatch/completion_reader.h"
#include "server/dispatch/output_sizing.h"
#include "server/dispatch/pool.h"

namespace mpsd {
namespace {

uint64_t UsedBytes(const CompletedBatch& batch) {
  uint64_t bytes = 0;
  for (const BatchOutput& output : batch.outputs) bytes += output.bytes.size();
  return bytes;
}

}  // namespace

void Pool::NoteAnnounced() {
  absl::MutexLock lock(&mu_);
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    for (LanePort& port : link->ports()) port.NoteAnnounced();
  }
}

size_t Pool::Drain(bool after_timeout) {
  Work work;
  work.after_timeout = after_timeout;
  {
    absl::MutexLock lock(&mu_);
    for (const std::shared_ptr<WorkerLink>& link : links_) {
      if (!link->condemned && link->inflight_batches > 0) TakeCompletions(link.get(), &work);
    }
    if (!waiting_.empty()) PlaceWaiting(&work);
    Dispatch(&work);
    NoteSlabs();
  }
  const size_t count = work.completed.size();
  Carry(&work);
  return count;
}

void Pool::TakeCompletions(WorkerLink* link, Work* work) {
  for (LanePort& port : link->ports()) {
    while (port.inflight_count > 0 && port.completions.Pending()) {
      if (!TakeCompletion(link, &port, work)) return;
    }
  }
}

bool Pool::TakeCompletion(WorkerLink* link, LanePort* port, Work* work) {
  if (port->completions.Corrupt()) {
    Condemn(link, "its completion ring's tail is out of bounds");
    return false;
  }
  const uint32_t place = port->completions.Peek();
  if (place >= kRingEntries || port->inflight[place] == nullptr) {
    Condemn(link, "it completed a batch that it does not have");
    return false;
  }
  InflightBatch* batch = port->inflight[place].get();
  MPSD_CHECK(batch->slot.with_lane() && IsOfEpoch(batch->id, link->epoch()));
  ExpectedCompletion expected;
  expected.batch_id = batch->id;
  expected.row_count = batch->formed.row_count;
  expected.answer_index = batch->completed.answer_index;
  expected.lease_bytes = batch->lease->bytes();
  expected.lease_data = link->OutputData(batch->lease->offset());
  expected.batched_ns = batch->batched_ns;
  expected.now_ns = clock_->NowNs();
  uint64_t needed_bytes = 0;
  const absl::Status status = ReadCompletion(port->report->records[place], expected, model_->spec,
                                             &batch->completed, &needed_bytes);
  if (!status.ok()) {
    Condemn(link, std::string(status.message()));
    return false;
  }
  ModelMetrics& metrics = model_->metrics;
  // The lane rang before it announced the completion, and nobody has cleared the bell since.
  const bool missed = work->after_timeout && port->WasAnnounced() &&
                      !platform::BellRings(link->bell().poll_fd.get());
  if (missed) metrics.timeout_wakeups.fetch_add(1, std::memory_order_relaxed);
  port->completions.Pop();
  ++port->completed;
  batch->slot.Go(SlotState::kCompleted);
  const bool ends = batch->completed.part != AnswerPart::kOneOfMany;
  if (ends) link->answered_requests += batch->formed.entries.size();
  if (batch->formed.runs.size() > 1) metrics.gathered_batches.fetch_add(1);
  if (absl::IsDeadlineExceeded(batch->completed.failure)) metrics.skipped_batches.fetch_add(1);
  if (needed_bytes > 0) {
    RetryWithLargerLease(batch, needed_bytes, *link, work);
  } else if (!batch->completed.outputs.empty()) {
    output_estimate_.Use(UsedBytes(batch->completed), batch->formed.row_count);
  }
  EndEntries(batch);
  work->completed.push_back(std::move(port->inflight[place]));
  EndBatch(link, port, place);
  return true;
}

// The rows have ended, unless they are to have a further answer; whoever is still waited for gets a
// reply, or a part of it, from Carry().
void Pool::EndEntries(InflightBatch* batch) {
  CompletedBatch& completed = batch->completed;
  completed.spec = &model_->spec;
  completed.metrics = &model_->metrics;
  completed.memory = batch->lease;
  completed.batched_ns = batch->batched_ns;
  completed.entries.swap(batch->formed.entries);
  int64_t waited_for = 0;
  for (const BatchEntry& entry : completed.entries) {
    if (completed.part == AnswerPart::kOneOfMany && entry.request != nullptr) {
      AwaitContinue(entry.request);
      continue;
    }
    batcher_.EndRows(entry.place, entry.row_count);
    if (entry.request == nullptr) continue;
    entry.request->Go(RequestState::kEnded);
    ++waited_for;
  }
  inside_.fetch_sub(waited_for, std::memory_order_relaxed);
  ended_requests_ += static_cast<uint64_t>(waited_for);
}

void Pool::EndBatch(WorkerLink* link, LanePort* port, uint32_t place) {
  port->inflight[place] = nullptr;
  --port->inflight_count;
  --link->inflight_batches;
  model_->metrics.running_batches.fetch_sub(1, std::memory_order_relaxed);
}

// The outputs did not fit: the requests go again with a larger lease, each alone where one that
// holds them all cannot be had. What each lease is taken for grows by powers of two, so that this
// ends, whatever the worker says; who goes again is ahead of younger ones, whose small answers
// could make it come down meanwhile.
void Pool::RetryWithLargerLease(InflightBatch* batch, uint64_t needed_bytes, const WorkerLink& link,
                                Work* work) {
  std::vector<BatchEntry>& entries = batch->formed.entries;
  const uint32_t rows = batch->formed.row_count;
  const uint64_t largest_bytes = LargestLeaseBytes(link);
  const bool fits = needed_bytes <= largest_bytes;
  absl::Status refusal;
  if (KnownOutputBytes(model_->spec, rows).has_value()) {
    refusal = absl::InternalError("the model's outputs are larger than its shapes say");
  } else if (!fits && entries.size() == 1) {
    refusal = absl::ResourceExhaustedError("the outputs exceed the memory for answers");
  }
  if (fits) output_estimate_.Grow(needed_bytes, rows);
  for (BatchEntry& entry : entries) {
    if (entry.request == nullptr) continue;
    if (refusal.ok()) {
      entry.request->suspect = entry.request->suspect || !fits;
      batcher_.Enqueue(entry.request);
      NoteQueueOf(*entry.request, 1);
    } else {
      batcher_.EndRows(entry.place, entry.row_count);
      entry.request->Go(RequestState::kEnded);
      inside_.fetch_sub(1, std::memory_order_relaxed);
      work->ended.emplace_back(entry.request, refusal);
    }
    entry.row_count = 0;
  }
  // The rows of those that had ended before end with the batch.
  std::erase_if(entries, [](const BatchEntry& entry) { return entry.row_count == 0; });
}

void Pool::Condemn(WorkerLink* link, const std::string& reason) {
  link->condemned = true;
  keeper_->Condemn(*model_, link->worker(), link->epoch(), reason);
}

}  // namespace mpsd
