#include "server/compose/steps/step_run.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/check.h"
#include "server/exchange/request_ending.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

// ReadCompletion() accepts no answer without the name.
const AnswerOutput& NamedOutput(const Answer& answer, const std::string& name) {
  const auto found = std::find_if(answer.outputs.begin(), answer.outputs.end(),
                                  [&](const AnswerOutput& output) { return output.name == name; });
  MPSD_CHECK(found != answer.outputs.end());
  return *found;
}

}  // namespace

StepRun::StepRun(StepContext* context, const StepGraph* graph, RunTable* table, Request* request)
    : ChildRun(request, table),
      context_(context),
      graph_(graph),
      needed_(graph->NeededFor(request->wanted_outputs)),
      deadline_ns_(request->answer_deadline_ns()),
      steps_(graph->steps().size()),
      places_(graph->tensors().size()) {
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    if ((needed_ & OneStep(i)) == 0) continue;
    steps_[i] = std::make_unique<StepRequest>(context, this, i);
  }
  CountUses();
  LendInputs();
}

void StepRun::CountUses() {
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i] == nullptr) continue;
    const StepGraph::Step& step = graph_->steps()[i];
    const std::shared_ptr<ServedModel> member = context_->models->Find(step.model, step.version);
    for (const StepGraph::Link& input : step.inputs) {
      places_[input.tensor].uses.fetch_add(1, std::memory_order_relaxed);
      if (member != nullptr && member->cache != nullptr) places_[input.tensor].is_fixed = true;
    }
  }
  for (const uint32_t output : whole_->wanted_outputs) {
    places_[graph_->OutputTensor(output)].uses.fetch_add(1, std::memory_order_relaxed);
  }
}

void StepRun::LendInputs() {
  for (size_t i = 0; i < whole_->inputs.size(); ++i) {
    const RequestInput& input = whole_->inputs[i];
    Dims dims = input.dims;
    if (model_->spec.batches()) dims.insert(dims.begin(), whole_->rows);
    places_[i].tensor.Lend(input.datatype, std::move(dims), *input.payload);
  }
}

void StepRun::Begin() {
  BeginReady();
  CloseBeginning();
}

void StepRun::BeginReady() {
  while (StepRequest* const step = TakeReady()) step->Begin();
}

StepRequest* StepRun::TakeReady() {
  StepRequest* step = nullptr;
  {
    absl::MutexLock lock(&mu_);
    if (context_->closed) SetFault(absl::UnavailableError("Server exiting"));
    const StepSet ready = graph_->ReadyAfter(done_, needed_) & ~begun_;
    if (ready == 0) return nullptr;
    const auto number = static_cast<uint32_t>(std::countr_zero(ready));
    step = steps_[number].get();
    if (!NoteBegun(step)) return nullptr;
    begun_ |= OneStep(number);
  }
  Fill(step->number(), step);
  return step;
}

// The deadline is the whole request's; the member's own policy may shorten the wait.
void StepRun::Fill(uint32_t step, StepRequest* target) {
  const StepGraph::Step& source = graph_->steps()[step];
  InferMessage* const message = target->message();
  Request* const request = target->request();
  message->model = source.model;
  message->version = source.version;
  message->priority = whole_->priority;
  for (const StepGraph::Link& link : source.inputs) {
    const StepTensor& tensor = places_[link.tensor].tensor;
    InputMessage& input = message->inputs.emplace_back();
    input.name = link.name;
    input.datatype = DataTypeName(tensor.datatype());
    input.dims = tensor.dims();
    input.has_data = true;
    input.payload = tensor.payload();
    request->inputs_may_change = request->inputs_may_change || tensor.may_change();
  }
  for (const StepGraph::Link& link : source.outputs) {
    if (places_[link.tensor].is_used()) message->outputs.push_back(link.name);
  }
  request->is_step = true;
  request->tenant = whole_->tenant;
  request->rules_version = whole_->rules_version;
  request->arrival_ns = context_->clock->NowNs();
  request->patience_ns = whole_->patience_ns;
  request->deadline_ns = deadline_ns_;
  request->span = BeginSpan(step);
}

std::unique_ptr<const RequestSpan> StepRun::BeginSpan(uint32_t step) const {
  if (whole_->span == nullptr) return nullptr;
  const std::string name = absl::StrCat("steps[", step, "] ", graph_->steps()[step].model);
  return context_->observers.BeginStep(*whole_->span, name);
}

void StepRun::InputsRead(uint32_t step) {
  for (const StepGraph::Link& link : graph_->steps()[step].inputs) {
    Place& place = places_[link.tensor];
    if (place.uses.fetch_sub(1, std::memory_order_acq_rel) == 1) place.tensor.Drop();
  }
}

void StepRun::NoteAnswered(uint32_t step) {
  const Request& request = *steps_[step]->request();
  done_ |= OneStep(step);
  sums_.input_ns += request.sums.input_ns;
  sums_.infer_ns += request.sums.infer_ns;
  sums_.output_ns += request.sums.output_ns;
  const bool was_queued = request.times.batched_ns > 0;
  if (was_queued) queue_ns_ += request.times.batched_ns - request.arrival_ns;
}

bool StepRun::EndWith(uint32_t step) {
  absl::MutexLock lock(&mu_);
  if (!fault_.ok() || (needed_ & ~(done_ | OneStep(step))) != 0) return false;
  NoteAnswered(step);
  return is_over_ = true;
}

absl::Status StepRun::HoldOutputs(uint32_t step, const Answer& answer) {
  for (const StepGraph::Link& link : graph_->steps()[step].outputs) {
    Place& place = places_[link.tensor];
    if (!place.is_used()) continue;
    const absl::Status held = place.tensor.Hold(NamedOutput(answer, link.name), answer.memory,
                                                place.is_fixed, &context_->copies);
    if (!held.ok()) return held;
  }
  return absl::OkStatus();
}

void StepRun::ChildAnswered(ChildRequest* child, const Answer& answer) {
  const std::shared_ptr<ChildRun> self = shared_from_this();
  const uint32_t step = child->number();
  if (EndWith(step)) return GiveLast(step, answer);
  if (absl::Status held = HoldOutputs(step, answer); !held.ok()) return ChildFailed(child, held);
  {
    absl::MutexLock lock(&mu_);
    NoteAnswered(step);
  }
  BeginReady();
  Close(child, absl::OkStatus());
}

void StepRun::ChildFailed(ChildRequest* child, const absl::Status& status) {
  const uint32_t step = child->number();
  const std::string prefix = StepPrefix(model_->name, step, graph_->steps()[step].model);
  Close(child, WithText(status, absl::StrCat(prefix, status.message())));
}

absl::Status StepRun::StillAwaited() {
  absl::MutexLock lock(&mu_);
  return fault_.ok() ? CheckInTime(*whole_, context_->clock->NowNs()) : fault_;
}

// No other step is open, and none follows.
void StepRun::GiveLast(uint32_t step, const Answer& answer) {
  for (const StepGraph::Link& link : graph_->steps()[step].outputs) {
    Place& place = places_[link.tensor];
    if (place.is_used()) place.tensor.Look(NamedOutput(answer, link.name));
  }
  const bool has_all = std::all_of(
      whole_->wanted_outputs.begin(), whole_->wanted_outputs.end(), [&](uint32_t output) {
        return graph_->tensors()[graph_->OutputTensor(output)].maker == step;
      });
  GiveFrom(has_all ? answer.memory : nullptr);
}

// Tensors that were held go out as copies: an answer has at most one memory.
void StepRun::GiveFrom(AnswerMemory* memory) {
  Answer answer;
  answer.memory = memory;
  for (const uint32_t index : whole_->wanted_outputs) {
    const StepTensor& tensor = places_[graph_->OutputTensor(index)].tensor;
    AnswerOutput& output = answer.outputs.emplace_back();
    output.name = model_->spec.outputs[index].name;
    output.datatype = tensor.datatype();
    output.dims = tensor.dims();
    output.bytes = tensor.bytes();
  }
  CountAnswer();
  Send(answer);
}

// As Triton counts: the sum of all steps' times.
void StepRun::CountAnswer() {
  ExecutedBatch executed;
  executed.row_count = whole_->rows;
  executed.answered_requests = 1;
  executed.answered_rows = whole_->rows;
  executed.ended_ms = absl::ToUnixMillis(absl::Now());
  executed.total_ns = context_->clock->NowNs() - whole_->arrival_ns;
  {
    absl::MutexLock lock(&mu_);
    executed.input_ns = sums_.input_ns;
    executed.infer_ns = sums_.infer_ns;
    executed.output_ns = sums_.output_ns;
    executed.queue_ns = queue_ns_;
  }
  model_->metrics.inference.AddBatch(executed);
}

}  // namespace mpsd
