#include "server/pool/completion_intake.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/units.h"
#include "server/pool/lanes/output_sizing.h"
#include "server/pool/schedule/call_rest.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

// The client of an answer that needs a larger worker may retry then. Starts take longer, but nobody
// knows how long.
constexpr int64_t kRoomierWorkerNs = kNsPerSecond;

// The model has seen the request, and may have noted it.
absl::Status MayNotRunTwice() {
  return absl::ResourceExhaustedError(
      "the outputs are larger than those before, and a request of a sequence runs once only");
}

std::string OutputsTake(uint64_t bytes) {
  return absl::StrCat("the outputs take ", BytesText(bytes));
}

uint64_t UsedBytes(const CompletedBatch& batch) {
  uint64_t bytes = 0;
  for (const BatchOutput& output : batch.outputs) bytes += output.bytes.size();
  return bytes;
}

}  // namespace

absl::Status LargerWorkerStarts(uint64_t bytes) {
  return WithRetryAfter(absl::ResourceExhaustedError(absl::StrCat(
                            OutputsTake(bytes), "; a worker with room for them starts")),
                        kRoomierWorkerNs);
}

absl::Status NoMemoryForOutputs(uint64_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat(OutputsTake(bytes), ", and there is no memory for a worker with room for them"));
}

void CompletionIntake::Take(DeferredWork* work) {
  for (uint32_t worker = 0; worker < inflight_->workers().size(); ++worker) TakeOf(worker, work);
}

void CompletionIntake::TakeOf(uint32_t worker, DeferredWork* work) {
  if (inflight_->worker(worker).condemned || inflight_->workers()[worker].batches == 0) return;
  const uint32_t first = inflight_->workers()[worker].first_lane;
  const uint32_t end = first + inflight_->worker(worker).link->lanes();
  for (uint32_t lane = first; lane < end; ++lane) {
    while (inflight_->lanes()[lane].batches > 0 && inflight_->port(lane)->completions.Pending()) {
      if (!TakeOne(lane, work)) return;
    }
  }
}

// False if the worker was caught lying.
bool CompletionIntake::TakeOne(uint32_t lane, DeferredWork* work) {
  const uint32_t worker = inflight_->lanes()[lane].worker;
  LanePort* port = inflight_->port(lane);
  const auto condemn = [&](const std::string& reason) {
    inflight_->Condemn(worker, reason);
    return false;
  };
  if (port->completions.Corrupt()) return condemn("its completion ring's tail is out of bounds");
  const uint32_t slot = port->completions.Peek();
  InflightBatch* batch = slot < kRingEntries ? inflight_->At({lane, slot}) : nullptr;
  if (batch == nullptr) return condemn("it completed a batch that it does not have");
  const WorkerLink& link = *inflight_->worker(worker).link;
  MPSD_CHECK(batch->life.with_lane() && IsOfEpoch(batch->id, link.epoch()));
  const int64_t now_ns = facts_->clock->NowNs();
  uint64_t needed_bytes = 0;
  const absl::Status status =
      ReadCompletion(port->report->records[slot], Expect(*batch, link, now_ns), facts_->model->spec,
                     &batch->completed, &needed_bytes);
  if (!status.ok()) return condemn(std::string(status.message()));
  const bool missed = work->after_timeout && port->WasAnnounced();
  if (missed) facts_->model->metrics.timeout_wakeups.fetch_add(1, std::memory_order_relaxed);
  port->completions.Pop();
  ++port->completed;
  batch->life.Go(SlotState::kCompleted);
  CountCompletion(*batch, worker);
  const bool is_first_of_shape = !IsKnown(batch->curve);
  const int64_t took_ns = NoteTime({lane, slot}, *batch, now_ns);
  if (needed_bytes > 0) {
    RetryWithLargerLease(batch, needed_bytes, link, work);
  } else if (!batch->completed.outputs.empty()) {
    const uint64_t bytes = UsedBytes(batch->completed);
    forecasts_->estimate.Use(bytes, batch->formed.row_count);
    NoteOutputs(batch->formed, bytes, link);
    if (!is_first_of_shape) RefuseLateCalls(batch, took_ns, now_ns, work);
  }
  EndEntries(batch, now_ns, work);
  claims_->GiveBack(batch, work);
  work->completed.push_back(inflight_->TakeOut({lane, slot}));
  return true;
}

ExpectedCompletion CompletionIntake::Expect(const InflightBatch& batch, const WorkerLink& link,
                                            int64_t now_ns) const {
  ExpectedCompletion expected;
  expected.batch_id = batch.id;
  expected.row_count = batch.formed.row_count;
  expected.answer_index = batch.completed.answer_index;
  expected.lease_bytes = batch.lease->bytes();
  expected.lease_data = link.OutputData(batch.lease->offset());
  expected.batched_ns = batch.batched_ns;
  expected.now_ns = now_ns;
  return expected;
}

void CompletionIntake::CountCompletion(const InflightBatch& batch, uint32_t worker) {
  ModelMetrics& metrics = facts_->model->metrics;
  if (batch.completed.part != AnswerPart::kOneOfMany) {
    inflight_->CountAnswered(worker, batch.formed.entries.size());
  }
  if (batch.formed.runs.size() > 1) metrics.gathered_batches.fetch_add(1);
  if (absl::IsDeadlineExceeded(batch.completed.failure)) metrics.skipped_batches.fetch_add(1);
}

// A batch that failed or was skipped says nothing about others' times.
int64_t CompletionIntake::NoteTime(InflightTable::Position position, const InflightBatch& batch,
                                   int64_t now_ns) {
  const int64_t took_ns = inflight_->NoteRun(position, now_ns);
  if (batch.curve == nullptr || !batch.completed.failure.ok()) return took_ns;
  forecasts_->slow_workers.Note(position.lane, batch.formed.row_count, took_ns, batch.curve);
  return took_ns;
}

// Refuses requests that were let in while nothing was known of their batches. The first batch of a
// shape takes longer than later ones, so this begins with the second.
void CompletionIntake::RefuseLateCalls(InflightBatch* batch, int64_t took_ns, int64_t now_ns,
                                       DeferredWork* work) {
  for (BatchEntry& entry : batch->formed.entries) {
    Request* const request = entry.request;
    if (request == nullptr || request->rows_behind == 0 || !request->is_unforeseen) continue;
    const int64_t late_ns = RestLateNs(*request, *batch, took_ns, now_ns);
    if (late_ns == 0) continue;
    entry.request = nullptr;
    facts_->model->metrics.refused_in_advance.fetch_add(1, std::memory_order_relaxed);
    work->End(request, NoLaneInTime(kNoLaneInTime, late_ns));
  }
}

// One batch may be slow by chance, and the mean contains the first one: the smaller counts.
int64_t CompletionIntake::RestLateNs(const Request& request, const InflightBatch& batch,
                                     int64_t took_ns, int64_t now_ns) const {
  const Batcher& batcher = queue_->batcher();
  const CallRest rest = {.rows = request.rows_behind,
                         .batch_rows = std::min(batcher.max_rows(), batcher.MostRowsWith(request)),
                         .batch_ns = std::min(took_ns, batch.curve->MeanNs(batch.formed.row_count)),
                         .lanes = static_cast<uint32_t>(inflight_->lanes().size()),
                         .deadline_ns = request.answer_deadline_ns()};
  return LeastLatenessNs(rest, now_ns);
}

// The rows end, unless the request gets a further answer.
void CompletionIntake::EndEntries(InflightBatch* batch, int64_t now_ns, DeferredWork* work) {
  CompletedBatch& completed = batch->completed;
  completed.spec = &facts_->model->spec;
  completed.metrics = &facts_->model->metrics;
  completed.memory = batch->lease;
  completed.batched_ns = batch->batched_ns;
  completed.entries.swap(batch->formed.entries);
  uint64_t answered = 0;
  for (const BatchEntry& entry : completed.entries) {
    if (completed.part == AnswerPart::kOneOfMany && entry.request != nullptr) {
      answering_.Add(entry.request, now_ns);
      continue;
    }
    queue_->EndRows(entry.place, entry.row_count);
    if (entry.request == nullptr) continue;
    forecasts_->Answered(*entry.request, now_ns);
    work->EndAnswered(entry.request);
    ++answered;
  }
  queue_->ledger()->rate()->Count(answered);
  forecasts_->returns.Answered(static_cast<uint32_t>(answered), now_ns);
}

// The line's next batches have no more rows than should fit the largest lease.
void CompletionIntake::NoteOutputs(const FormedBatch& formed, uint64_t bytes,
                                   const WorkerLink& link) {
  const auto waited_for = [](const BatchEntry& entry) { return entry.request != nullptr; };
  const auto entry = std::find_if(formed.entries.begin(), formed.entries.end(), waited_for);
  if (entry == formed.entries.end()) return;
  queue_->NoteOutputs(*entry->request, formed.row_count, bytes, link.outputs().largest_lease_bytes);
}

// The outputs did not fit. The requests go again with a larger lease, or each alone if no lease can
// hold all outputs. A request that was alone waits for a larger worker; beyond
// PoolOptions::max_answer_bytes it is refused. The estimate grows by powers of two, so retries end,
// whatever the worker says. The requests are ahead of younger ones, whose small answers could lower
// the estimate.
void CompletionIntake::RetryWithLargerLease(InflightBatch* batch, uint64_t needed_bytes,
                                            const WorkerLink& link, DeferredWork* work) {
  std::vector<BatchEntry>& entries = batch->formed.entries;
  const bool fits = needed_bytes <= link.outputs().largest_lease_bytes;
  NoteOutputs(batch->formed, needed_bytes, link);
  const absl::Status refusal = RefusalToRetry(batch->formed, needed_bytes, fits);
  const bool is_pinned = std::any_of(entries.begin(), entries.end(), [](const BatchEntry& entry) {
    return entry.request != nullptr && entry.request->pin != 0;
  });
  // A row whose outputs fit no lease counts as one that fills the largest: the worker may lie.
  const uint32_t rows = batch->formed.row_count;
  const uint64_t most_bytes = rows * link.outputs().largest_lease_bytes;
  if (fits || is_pinned) forecasts_->estimate.Grow(std::min(needed_bytes, most_bytes), rows);
  if (RetryAfterNs(refusal).has_value()) forecasts_->estimate.NoteTooLarge(needed_bytes);
  for (BatchEntry& entry : entries) {
    if (entry.request == nullptr) continue;
    const bool may_run_again = refusal.ok() && entry.request->pin == 0;
    if (may_run_again) {
      entry.request->suspect = entry.request->suspect || !fits;
      queue_->Return(entry.request);
    } else if (MayWait(*entry.request, refusal)) {
      AwaitLargerWorker(entry.request, needed_bytes, work);
    } else {
      queue_->EndRows(entry.place, entry.row_count);
      work->End(entry.request, refusal.ok() ? MayNotRunTwice() : refusal);
    }
    entry.row_count = 0;
  }
  // Rows of requests that had ended before end with the batch.
  std::erase_if(entries, [](const BatchEntry& entry) { return entry.row_count == 0; });
}

// A client with some answers of one worker gets no others from another, and a request with a pin
// runs only once.
bool CompletionIntake::MayWait(const Request& request, const absl::Status& refusal) const {
  return RetryAfterNs(refusal).has_value() && request.pin == 0 && request.answers == 0;
}

void CompletionIntake::AwaitLargerWorker(Request* request, uint64_t needed_bytes,
                                         DeferredWork* work) {
  request->output_bytes = needed_bytes;
  const absl::Span<const WorkerView> workers = inflight_->workers();
  const bool is_there =
      std::any_of(workers.begin(), workers.end(), [needed_bytes](const WorkerView& worker) {
        return worker.takes_batches && worker.largest_lease_bytes >= needed_bytes;
      });
  if (is_there) {
    request->suspect = true;
    queue_->Return(request);
  } else if (!queue_->Hold(request)) {
    queue_->EndRows(request->place, request->rows);
    work->End(request, LargerWorkerStarts(needed_bytes));
  }
}

absl::Status CompletionIntake::RefusalToRetry(const FormedBatch& formed, uint64_t needed_bytes,
                                              bool fits) const {
  if (KnownOutputBytes(facts_->model->spec, formed.row_count).has_value()) {
    return absl::InternalError("the model's outputs are larger than its shapes say");
  }
  if (fits || formed.entries.size() > 1) return absl::OkStatus();
  if (needed_bytes > facts_->options.max_answer_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(OutputsTake(needed_bytes), ", more than the largest message, limits.message"));
  }
  if (!forecasts_->estimate.MayWantLarger(facts_->clock->NowNs()))
    return NoMemoryForOutputs(needed_bytes);
  return LargerWorkerStarts(needed_bytes);
}

}  // namespace mpsd
