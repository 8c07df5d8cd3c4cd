#include "worker/consume/lane.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/failpoint.h"
#include "proto/base/platform.h"
#include "proto/link/messages.h"
#include "worker/execute/lease_sink.h"
#include "worker/execute/record_runs.h"
#include "worker/execute/warm_up.h"

namespace mpsd {
namespace {

// A safety net: work found only because of the time-out counts as a bug.
constexpr int64_t kParkTimeoutNs = kNsPerSecond;

[[noreturn]] void EndForLostDevice(absl::string_view why) {
  std::fprintf(stderr, "the device is lost: %.*s\n", static_cast<int>(why.size()), why.data());
  _exit(kWorkerExitDeviceLost);
}

}  // namespace

Lane::Lane(uint32_t index, const Attachment* attachment, Model* model, const Clock* clock,
           const LaneUpkeep::Options& upkeep)
    : index_(index),
      attachment_(attachment),
      model_(model),
      clock_(clock),
      report_(attachment->report(index)),
      submitted_(attachment->mailbox(index).submit_entries, &attachment->mailbox(index).submit_tail,
                 &report_->submit_head),
      completed_(report_->completion_entries, &report_->completion_tail,
                 &attachment->mailbox(index).completion_head),
      sleep_(&attachment->mailbox(index).sequence, &report_->parked),
      front_bell_(&attachment->mailbox_page().front_parked),
      reader_(attachment, &model->spec()),
      executor_(index, model, clock),
      upkeep_(index, model, clock, upkeep, report_) {}

void Lane::Start(WarmUp warmup, absl::Span<const WarmUpSample> samples) {
  thread_ = std::thread([this, warmup, samples] { Main(warmup, samples); });
}

absl::Status Lane::WarmedUp() {
  warmed_up_.WaitForNotification();
  return warmup_status_;
}

void Lane::Main(WarmUp warmup, absl::Span<const WarmUpSample> samples) {
  platform::NameThread(absl::StrCat("lane-", index_).c_str());
  warmup_status_ = WarmUpHere(warmup, samples);
  const bool serve = warmup_status_.ok();
  warmed_up_.Notify();
  if (serve) RunHere();
}

absl::Status Lane::WarmUpHere(WarmUp warmup, absl::Span<const WarmUpSample> samples) {
  lane_thread_.Bind();
  const absl::Status bound = model_->BindLane(index_);
  MPSD_FAILPOINT("worker.in_warmup");
  if (!bound.ok()) return bound;
  WarmUpEnd end = WarmUpLane(model_, index_, warmup, samples);
  const bool records = warmup != WarmUp::kNone && model_->recorder() != nullptr;
  if (end.ok() && records) end.status = RecordRuns();
  if (!CanServeAfter(end)) return end.status;
  warning_ = std::string(end.status.message());
  return absl::OkStatus();
}

absl::Status Lane::RecordRuns() {
  const absl::StatusOr<RecordReport> report = mpsd::RecordRuns(model_, index_, clock_);
  if (!report.ok()) return report.status();
  records_ = report->Text();
  return absl::OkStatus();
}

void Lane::RunHere() {
  lane_thread_.Check();
  for (;;) {
    while (!submitted_.Pending()) Idle();
    MPSD_CHECK(!submitted_.Corrupt());
    patience_.Found(clock_->NowNs());
    ServeOne();
  }
}

void Lane::Idle() {
  if (LooksOn()) return;
  Sleep();
  if (submitted_.Pending()) return;
  const absl::Status status = upkeep_.WhenIdle(Pressure());
  if (absl::IsDataLoss(status)) EndForLostDevice(status.message());
}

bool Lane::LooksOn() {
  const auto& word = attachment_->mailbox_page().cores_are_left;
  return patience_.LooksOn(clock_->NowNs(), word.load(std::memory_order_relaxed) == 1);
}

// Only the front end writes the word. An unknown level counts as no pressure.
MemoryPressure Lane::Pressure() const {
  const uint32_t word = attachment_->mailbox_page().memory_pressure.load(std::memory_order_relaxed);
  const bool known = word <= static_cast<uint32_t>(MemoryPressure::kCritical);
  return known ? static_cast<MemoryPressure>(word) : MemoryPressure::kNone;
}

void Lane::Sleep() {
  MPSD_FAILPOINT("worker.before_sleep");
  // The last look is the one at the time-out. Later work rings, or the caller's next look finds it.
  bool has_work = false;
  const auto look = [submitted = &submitted_, &has_work] {
    return has_work = submitted->Pending();
  };
  const bool woken = sleep_.Sleep(look, kParkTimeoutNs);
  report_->heartbeat.fetch_add(1, std::memory_order_relaxed);
  if (!woken && has_work) {
    report_->timeout_wakeups.fetch_add(1, std::memory_order_relaxed);
  }
}

void Lane::ServeOne() {
  MPSD_FAILPOINT("worker.before_claim");
  const uint32_t slot = submitted_.Peek();
  MPSD_CHECK(slot < kRingEntries);
  const BatchRecord& source = attachment_->mailbox(index_).records[slot];
  CompletionRecord* record = &report_->records[slot];
  const absl::Status status = reader_.Read(source, &batch_);
  const bool live = source.cancelled.load(std::memory_order_acquire) == 0 &&
                    batch_.live_until_ns > clock_->NowNs();
  submitted_.Pop();
  MPSD_FAILPOINT("worker.after_claim");
  if (status.ok() && live) {
    const RunGate::Run run(upkeep_.gate());
    executor_.Execute(batch_, record);
    // The front end gives the batch to the next worker.
    if (executor_.device_lost()) EndForLostDevice({record->text, record->text_bytes});
  } else {
    record->batch_id = source.batch_id;
    record->outcome = status.ok() ? BatchOutcome::kSkipped : BatchOutcome::kFailed;
    record->output_count = 0;
    record->started_ns = record->finished_ns = clock_->NowNs();
    SetText(record, status.message());
  }
  const int64_t ended_ns = record->finished_ns;
  Complete(slot);
  upkeep_.AfterBatch(ended_ns, Pressure());
}

void Lane::Complete(uint32_t slot) {
  MPSD_FAILPOINT_DATA("worker.before_publish", &slot, sizeof(slot));
  MPSD_CHECK(completed_.Push(slot));
  MPSD_FAILPOINT_DATA("worker.after_publish", &report_->completion_tail,
                      sizeof(report_->completion_tail));
  if (front_bell_.Owed()) {
    MPSD_FAILPOINT("worker.before_bell");
    platform::RingBell(attachment_->bell_fd());
  }
  report_->announced.store(++completed_count_, std::memory_order_release);
}

}  // namespace mpsd
