#include "server/compose/parts/parted_run.h"

#include <algorithm>
#include <string>

#include "proto/base/check.h"
#include "server/request/served_model.h"

namespace mpsd {

PartedRun::PartedRun(Request* whole, RowQueue* pool, RunTable* table, ByteAllowance* answers)
    : ChildRun(whole, table), pool_(pool), room_(model_->facts.answer_bytes_max, answers) {
  Cut();
  for (size_t i = 0; i < whole->wanted_outputs.size(); ++i) {
    outputs_.emplace_back(whole->rows, static_cast<uint32_t>(parts_.size()));
  }
}

void PartedRun::Cut() {
  std::vector<InputCutter> cutters;
  for (const RequestInput& input : whole_->inputs) cutters.emplace_back(input, whole_->rows);
  const uint32_t most = model_->spec.max_batch_size;
  for (uint32_t row = 0; row < whole_->rows; row += most) {
    const auto number = static_cast<uint32_t>(parts_.size());
    parts_.push_back(std::make_unique<RequestPart>(this, number, row));
    parts_.back()->Take(*whole_, std::min(most, whole_->rows - row), absl::MakeSpan(cutters));
  }
}

absl::Status PartedRun::Reserve() {
  for (const std::unique_ptr<RequestPart>& part : parts_) {
    if (!MayReserve(part.get())) return absl::OkStatus();
    if (absl::Status status = part->Reserve(pool_); !status.ok()) {
      Close(part.get(), status);
      return part->number() == 0 ? status : absl::OkStatus();
    }
    ++reserved_;
  }
  return absl::OkStatus();
}

// A part may end before Reserve() returns, so it counts as open before.
bool PartedRun::MayReserve(RequestPart* part) {
  absl::MutexLock lock(&mu_);
  return NoteBegun(part);
}

void PartedRun::Start() {
  for (size_t i = 0; i < reserved_; ++i) parts_[i]->Fill(pool_);
  CloseBeginning();
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

void PartedRun::ChildAnswered(ChildRequest* child, const Answer& answer) {
  absl::Status status;
  {
    absl::MutexLock lock(&mu_);
    if (fault_.ok()) status = Join(*static_cast<RequestPart*>(child), answer);
  }
  Close(child, status);
}

void PartedRun::Give() {
  whole_->times = times_;
  whole_->sums = sums_;
  Answer answer;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::string& name = model_->spec.outputs[whole_->wanted_outputs[i]].name;
    answer.outputs.push_back(outputs_[i].Join(name));
  }
  if (whole_->cache_key.has_value()) model_->cache->Keep(*whole_, answer);
  Send(answer);
}

}  // namespace mpsd
