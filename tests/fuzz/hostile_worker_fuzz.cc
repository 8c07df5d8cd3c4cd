// The front end's consumer over a worker segment that changes between its loads.
//
// The input drives a pool with one worker: requests come, time passes, the worker takes batches and
// completes them honestly or scribbles on its segment, it dies. Beside that it holds a schedule of
// writes, of which the next is made before a certain load that the pool makes from the segment (see
// load_hook.h). Whatever comes: every request ends exactly once, an answer that is given has the
// bytes of a lease that its request had, and at rest nothing is in use.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "proto/base/check.h"
#include "server/pool/pool.h"
#include "server/pool/pool_memory.h"
#include "server/pool/pool_workers.h"
#include "server/pool/reply/answer_step.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_pool_keeper.h"
#include "tests/fakes/fake_worker.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/load_hook.h"

namespace mpsd {
namespace {

constexpr size_t kMostSteps = 64;
constexpr size_t kMostCalls = 16;

// Lives for one input.
class HostileWorker {
 public:
  explicit HostileWorker(FuzzInput input) : input_(input) {
    model_.name = std::string("m");
    const auto kind = input_.Take<uint8_t>();
    model_.spec.decoupled = kind % 4 >= 2;
    model_.spec.max_batch_size = model_.spec.decoupled ? 0 : 4;
    model_.spec.inputs = {{"IN", DataType::kFp32, {2}}};
    model_.spec.outputs = {{"OUT", DataType::kFp32, {kind % 2 == 0 ? 2 : -1}}};
    has_texts_ = kind / 64 % 2 == 1;
    if (has_texts_) model_.spec.outputs = {{"OUT", DataType::kBytes, {1}}};
    PoolOptions options;
    options.lane_depth = 1 + input_.Take<uint8_t>() % kMaxLaneDepth;
    pool_ = std::make_unique<Pool>(&model_, options, &clock_, &replies_, &keeper_);
    pool_->memory()->Add(OwnedSegment::Create(SegmentKind::kSlabs, 16 << 10, 0).value());
  }

  void Run() {
    StartWorker();
    for (size_t i = 0; i < kMostSteps && !input_.empty(); ++i) {
      Step();
      pool_->CheckInvariants();
    }
    pool_->workers()->Detach(0, WorkerEnd::kKilled);
    pool_->FailAll("the end");
    while (Continue()) {
    }
    hook_.reset();
    for (const FakeCall& call : calls_) MPSD_CHECK(call.endings() == 1);
    MPSD_CHECK(pool_->inside() == 0 && !pool_->busy());
    MPSD_CHECK(model_.metrics.queued_requests == 0 && model_.metrics.queued_bytes == 0);
    MPSD_CHECK(model_.metrics.output_leases == 0);
  }

 private:
  void Step() {
    if (model_.spec.decoupled && input_.Take<uint8_t>() % 4 == 0 && Continue()) return;
    switch (input_.Take<uint8_t>() % 10) {
      case 0:
      case 1:
        return Submit();
      case 2:
        return Take();
      case 3:
        return Complete();
      case 4:
        is_calm_ = false;
        return Scribble(side_->report(0), sizeof(LaneReport), input_.Take<uint16_t>());
      case 5:
        pool_->Drain(INT64_MIN);
        return;
      case 6:
        is_calm_ = false;
        clock_.Advance(input_.Take<uint8_t>() * 10 * kNsPerMs);
        return pool_->Tick();
      case 7:
        is_calm_ = false;
        loads_until_write_ = input_.Take<uint8_t>();
        return;
      case 8:
        is_calm_ = false;
        if (job_.has_value()) side_->Publish(0, input_.Take<uint8_t>() % (kRingEntries + 1));
        return;
      default:
        if (input_.Take<uint8_t>() % 4 != 0) return;
        pool_->workers()->Detach(0, WorkerEnd::kCrashed);
        return StartWorker();
    }
  }

  void StartWorker() {
    hook_.reset();
    job_.reset();
    side_.reset();
    WorkerLink::Options options = pool_->workers()->LinkOptions(0, ++epoch_, 1);
    options.outputs.bytes = 4 << 10;  // little memory to make anew for each input
    options.outputs.largest_lease_bytes = 2 << 10;
    link_ = WorkerLink::Create(options).value();
    side_ = std::make_unique<FakeWorker>(*link_, pool_->memory()->Descriptors(), &clock_);
    hook_.emplace(link_->worker_segment().data(), link_->worker_segment().bytes(), [this] {
      if (loads_until_write_ < 0 || loads_until_write_-- > 0) return;
      ScribbleOnRecord();
    });
    pool_->workers()->Attach(link_);
    is_calm_ = loads_until_write_ < 0;
  }

  void Submit() {
    if (calls_.size() == kMostCalls) return;
    FakeCall& call = calls_.emplace_back();
    const uint32_t rows = 1 + input_.Take<uint8_t>() % 4;
    call.Describe(model_.spec.decoupled ? 1 : rows, {2}, clock_.NowNs(), kNsPerSecond);
    RowTargets targets;
    const absl::Status status = pool_->Reserve(&call.request, &targets);
    if (!status.ok()) return call.request.reply.Fail(status);
    call.Fill(targets, 1);
    pool_->Commit(&call.request);
  }

  // One of the answers that are on their way is taken. False when there is none.
  bool Continue() {
    for (FakeCall& call : calls_) {
      if (call.request.state != RequestState::kAnswering) continue;
      pool_->Continue(&call.request);
      return true;
    }
    return false;
  }

  void Take() {
    if (std::optional<FakeWorker::Job> job = side_->Take(0)) job_ = std::move(job);
  }

  void Complete() {
    if (!job_.has_value()) return;
    CompletionRecord* record = side_->WriteRecord(*job_);
    const bool trails = has_texts_ && WriteTexts(record);
    const auto lie = input_.Take<uint8_t>();
    if (model_.spec.decoupled) {
      record->outcome = lie % 8 < 4 ? BatchOutcome::kAnswer : BatchOutcome::kNoAnswer;
    }
    if (lie % 4 == 1) record->outcome = static_cast<BatchOutcome>(input_.Take<uint8_t>() % 8);
    if (lie % 4 == 2) record->output_bytes_needed = input_.Take<uint64_t>();
    if (lie % 4 == 3) Scribble(record, sizeof(CompletionRecord), input_.Take<uint16_t>());
    const bool is_anothers = record->batch_id != job_->batch_id;
    const bool answers = record->outcome == BatchOutcome::kDone && lie % 4 == 0;
    side_->Publish(*job_);
    if (is_calm_ && (is_anothers || (trails && answers))) ExpectCondemned();
  }

  // Answers with a text for each row. True when bytes trail behind the last.
  bool WriteTexts(CompletionRecord* record) {
    OutputRecord& output = record->outputs[0];
    output.datatype = static_cast<uint32_t>(DataType::kBytes);
    output.dims[output.rank - 1] = 1;
    const uint64_t rows = model_.spec.batches() ? job_->row_count : 1;
    const auto trailing_bytes = input_.Take<uint8_t>() % 4;
    output.bytes = rows * (sizeof(uint32_t) + 1) + trailing_bytes;
    if (output.bytes > job_->output_bytes) return false;
    for (uint64_t row = 0; row < rows; ++row) {
      const uint32_t length = 1;
      char* const text = job_->output + row * (sizeof(length) + 1);
      std::memcpy(text, &length, sizeof(length));
      text[sizeof(length)] = 'x';
    }
    return trailing_bytes > 0;
  }

  // The pool believes no byte of a record that is certainly a lie: the worker is to be killed.
  void ExpectCondemned() {
    pool_->Drain(INT64_MIN);
    for (const FakePoolKeeper::Condemned& condemned : keeper_.condemned()) {
      if (condemned.epoch == epoch_) return;
    }
    MPSD_CHECK(!"a lie was believed");
  }

  // Before a load of the pool's: a word of the lane's indices or of the newest record.
  void ScribbleOnRecord() {
    const auto place = input_.Take<uint8_t>();
    if (place % 4 == 0) return Scribble(side_->report(0), sizeof(LaneReport), place * 8);
    CompletionRecord* record = &side_->report(0)->records[job_.has_value() ? job_->slot : 0];
    Scribble(record, sizeof(CompletionRecord), input_.Take<uint8_t>() * 4);
    loads_until_write_ = input_.Take<uint8_t>() % 16;
  }

  void Scribble(void* memory, size_t bytes, size_t at) {
    at = std::min(at, bytes - sizeof(uint32_t)) & ~size_t{3};
    const auto kind = input_.Take<uint8_t>();
    const uint32_t value = kind % 2 == 0 ? kind / 2 : input_.Take<uint32_t>();
    reinterpret_cast<SharedWord*>(static_cast<char*>(memory) + at)->store(value);
  }

  FuzzInput input_;
  FakeClock clock_;
  ServedModel model_;
  AnswerStep replies_{&clock_};
  FakePoolKeeper keeper_;
  std::deque<FakeCall> calls_;
  std::unique_ptr<Pool> pool_;
  std::shared_ptr<WorkerLink> link_;
  std::unique_ptr<FakeWorker> side_;
  std::optional<FakeWorker::Job> job_;
  std::optional<LoadHook> hook_;
  bool has_texts_ = false;  // its output is of strings
  bool is_calm_ = true;     // the worker has only taken and completed, and no batch was abandoned
  uint32_t epoch_ = 0;
  int loads_until_write_ = -1;
};

}  // namespace
}  // namespace mpsd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  mpsd::HostileWorker(mpsd::FuzzInput(data, bytes)).Run();
  return 0;
}
