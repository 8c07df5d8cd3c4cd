#include "server/parts/parted_run.h"

#include <algorithm>
#include <string>

#include "proto/base/check.h"

namespace mpsd {

PartedRun::PartedRun(Request* whole, RequestQueue* pool, RunKeeper* keeper, ByteAllowance* answers)
    : whole_(whole),
      pool_(pool),
      keeper_(keeper),
      model_(whole->model),
      room_(model_->facts.answer_bytes_max, answers) {
  Cut();
  for (size_t i = 0; i < whole->wanted_outputs.size(); ++i) {
    outputs_.emplace_back(whole->rows, static_cast<uint32_t>(parts_.size()));
  }
}

void PartedRun::Cut() {
  std::vector<InputCutter> cutters;
  for (const RequestInput& input : whole_->inputs) cutters.emplace_back(input, whole_->rows);
  const uint32_t most = model_->spec.max_batch_size;
  PartOwner* const owner = this;
  for (uint32_t row = 0; row < whole_->rows; row += most) {
    const auto number = static_cast<uint32_t>(parts_.size());
    parts_.push_back(std::make_unique<RequestPart>(owner, number, row));
    parts_.back()->Take(*whole_, std::min(most, whole_->rows - row), absl::MakeSpan(cutters));
  }
}

absl::Status PartedRun::Reserve() {
  for (const std::unique_ptr<RequestPart>& part : parts_) {
    if (!MayReserve()) return absl::OkStatus();
    absl::Status status = part->Reserve(pool_);
    if (!status.ok()) return part->number() == 0 ? status : absl::OkStatus();
    NoteReserved();
  }
  return absl::OkStatus();
}

// A part may end before Reserve() returns, so it counts as open before.
bool PartedRun::MayReserve() {
  absl::MutexLock lock(&mu_);
  if (!fault_.ok()) return false;
  ++open_;
  return true;
}

void PartedRun::NoteReserved() {
  absl::MutexLock lock(&mu_);
  ++reserved_;
}

// A part that was reserved while another one failed is not cancelled yet.
void PartedRun::Start() {
  size_t reserved = 0;
  {
    absl::MutexLock lock(&mu_);
    reserved = reserved_;
  }
  for (size_t i = 0; i < reserved; ++i) parts_[i]->Fill(pool_);
  bool has_fault = false;
  {
    absl::MutexLock lock(&mu_);
    has_fault = !fault_.ok();
  }
  if (has_fault) CancelParts();
  Close(absl::OkStatus());
}

absl::Status PartedRun::Join(const RequestPart& part, const Answer& answer) {
  MPSD_CHECK(answer.outputs.size() == outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    absl::Status status =
        outputs_[i].Add(part.number(), part.first_row(), answer.outputs[i], &room_);
    if (!status.ok()) return status;
  }
  NoteTimes(part.request());
  return absl::OkStatus();
}

void PartedRun::NoteTimes(const Request& part) {
  const bool is_first = times_.finished_ns == 0;
  const StageTimes& times = part.times;
  times_.batched_ns = is_first ? times.batched_ns : std::min(times_.batched_ns, times.batched_ns);
  times_.started_ns = is_first ? times.started_ns : std::min(times_.started_ns, times.started_ns);
  times_.finished_ns = std::max(times_.finished_ns, times.finished_ns);
  sums_.input_ns = std::max(sums_.input_ns, part.sums.input_ns);
  sums_.infer_ns = std::max(sums_.infer_ns, part.sums.infer_ns);
  sums_.output_ns = std::max(sums_.output_ns, part.sums.output_ns);
}

void PartedRun::PartAnswered(const RequestPart& part, const Answer& answer) {
  absl::Status status;
  {
    absl::MutexLock lock(&mu_);
    if (fault_.ok()) status = Join(part, answer);
  }
  Close(status);
}

void PartedRun::PartFailed(const absl::Status& status) { Close(status); }

void PartedRun::Cancel(const absl::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    if (open_ == 0) return;
    ++open_;
  }
  Close(status);
}

void PartedRun::CancelParts() {
  size_t reserved = 0;
  {
    absl::MutexLock lock(&mu_);
    reserved = reserved_;
  }
  for (size_t i = 0; i < reserved; ++i) pool_->Cancel(parts_[i]->request());
}

void PartedRun::Close(const absl::Status& status) {
  const std::shared_ptr<PartedRun> self = shared_from_this();
  bool is_fault = false;
  {
    absl::MutexLock lock(&mu_);
    is_fault = !status.ok() && fault_.ok();
    if (is_fault) fault_ = status;
  }
  if (is_fault) CancelParts();
  absl::Status fault;
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(open_ > 0);
    if (--open_ > 0) return;
    fault = fault_;
  }
  End(fault);
}

void PartedRun::End(const absl::Status& fault) {
  whole_->Go(RequestState::kEnded);
  if (!fault.ok()) {
    keeper_->Leave(whole_);
    return whole_->reply.Fail(fault);
  }
  whole_->times = times_;
  whole_->sums = sums_;
  whole_->is_answered = true;
  const Answer answer = Joined();
  if (whole_->cache_key.has_value()) model_->cache->Keep(*whole_, answer);
  keeper_->Leave(whole_);
  whole_->reply.Send(answer);
}

Answer PartedRun::Joined() {
  Answer answer;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::string& name = model_->spec.outputs[whole_->wanted_outputs[i]].name;
    answer.outputs.push_back(outputs_[i].Join(name));
  }
  return answer;
}

}  // namespace mpsd
