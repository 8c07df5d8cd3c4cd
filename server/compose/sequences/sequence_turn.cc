#include "server/compose/sequences/sequence_turn.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/request/served_model.h"

namespace mpsd {
namespace {

// A BYTES element: the text behind its length.
std::string StringElement(const std::string& text) {
  const auto length = static_cast<uint32_t>(text.size());
  std::string element(sizeof(length), '\0');
  std::memcpy(element.data(), &length, sizeof(length));
  return element + text;
}

}  // namespace

void SequenceTurn::TakeInputs() {
  payloads_.resize(request()->inputs.size());
  if (plan_->start) Supply(plan_->start->input, plan_->start->Value(turn_.starts));
  if (plan_->ready) Supply(plan_->ready->input, plan_->ready->Value(true));
  if (plan_->end) Supply(plan_->end->input, plan_->end->Value(turn_.ends));
  SupplyId();
  for (const SequencePlan::State& state : plan_->states) {
    Supply(state.input, absl::string_view(sequence_->state(state.offset), state.bytes));
  }
}

void SequenceTurn::Supply(uint32_t input, absl::string_view bytes) {
  payloads_[input].Append(bytes);
  request()->inputs[input].payload = &payloads_[input];
}

// A number's low bytes are its value in any width: SequencePlan::CheckId() has checked it.
void SequenceTurn::SupplyId() {
  if (!plan_->id.has_value()) return;
  RequestInput& input = request()->inputs[plan_->id->input];
  if (plan_->id->datatype == DataType::kBytes) {
    id_ = StringElement(sequence_->key.name);
    input.tensor_bytes = id_.size();
  } else {
    id_.resize(ElementBytes(plan_->id->datatype));
    std::memcpy(id_.data(), &sequence_->key.number, id_.size());
  }
  Supply(plan_->id->input, id_);
}

void SequenceTurn::WantStates() {
  for (const SequencePlan::State& state : plan_->states) {
    auto& wanted = request()->wanted_outputs;
    if (std::find(wanted.begin(), wanted.end(), state.output) == wanted.end()) {
      wanted.push_back(state.output);
    }
  }
}

void SequenceTurn::Prepare() {
  if (turn_.starts) sequence_->ClearState();
  Request* const turn = request();
  turn->StandFor(*turn_.request);
  turn->pin = sequence_->pin;
  turn->key.push_back(static_cast<int64_t>(sequence_->pin));
  TakeInputs();
  WantStates();
}

// WantStates() has asked for it.
const AnswerOutput& SequenceTurn::OutputOf(const SequencePlan::State& state,
                                           const Answer& answer) const {
  const auto& wanted = request().wanted_outputs;
  const auto place = std::find(wanted.begin(), wanted.end(), state.output) - wanted.begin();
  return answer.outputs[static_cast<size_t>(place)];
}

absl::Status SequenceTurn::TakeState(const Answer& answer, Answer* told) {
  MPSD_CHECK(answer.outputs.size() == request()->wanted_outputs.size());
  for (const SequencePlan::State& state : plan_->states) {
    const AnswerOutput& output = OutputOf(state, answer);
    if (output.bytes.size() != state.bytes) {
      return absl::InternalError(absl::StrCat("the model's output '", output.name, "' has ",
                                              output.bytes.size(), " bytes, and not the ",
                                              state.bytes, " of a state"));
    }
  }
  for (const SequencePlan::State& state : plan_->states) {
    const AnswerOutput& output = OutputOf(state, answer);
    if (state.bytes > 0) {
      std::memcpy(sequence_->state(state.offset), output.bytes.data(), state.bytes);
    }
  }
  const size_t count = turn_.request->wanted_outputs.size();
  told->memory = answer.memory;
  told->outputs.assign(answer.outputs.begin(),
                       answer.outputs.begin() + static_cast<ptrdiff_t>(count));
  return absl::OkStatus();
}

}  // namespace mpsd
