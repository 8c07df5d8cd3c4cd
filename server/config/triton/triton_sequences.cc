#include "server/config/triton/triton_sequences.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "server/config/triton/triton_types.h"

namespace mpsd {
namespace {

namespace pb = inference;
using Sequences = pb::ModelSequenceBatching;
using Control = Sequences::Control;

constexpr char kKey[] = "sequence_batching";
constexpr uint64_t kMostIdleUs = 24ULL * 3600 * 1'000'000;
constexpr uint64_t kMostDelayUs = 10'000'000;

absl::Status WrongKey(absl::string_view key, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", kKey, key, "' ", why));
}

void PutTensor(TensorSpec tensor, std::vector<TensorSpec>* tensors) {
  std::erase_if(*tensors, [&](const TensorSpec& other) { return other.name == tensor.name; });
  tensors->push_back(std::move(tensor));
}

// For "no" and "yes", with the tensor's type.
absl::Status ReadValues(const Control& control, SequenceControl* target, DataType* type) {
  const int kinds = (control.int32_false_true_size() > 0 ? 1 : 0) +
                    (control.fp32_false_true_size() > 0 ? 1 : 0) +
                    (control.bool_false_true_size() > 0 ? 1 : 0);
  const int values = control.int32_false_true_size() + control.fp32_false_true_size() +
                     control.bool_false_true_size();
  if (kinds != 1 || values != 2) {
    return WrongKey(".control_input.control",
                    "must have two values of one of int32_false_true, fp32_false_true and "
                    "bool_false_true");
  }
  if (control.int32_false_true_size() == 2) {
    *type = DataType::kInt32;
    target->no = control.int32_false_true(0);
    target->yes = control.int32_false_true(1);
  } else if (control.fp32_false_true_size() == 2) {
    *type = DataType::kFp32;
    target->no = control.fp32_false_true(0);
    target->yes = control.fp32_false_true(1);
  } else {
    *type = DataType::kBool;
    target->no = control.bool_false_true(0) ? 1 : 0;
    target->yes = control.bool_false_true(1) ? 1 : 0;
  }
  return absl::OkStatus();
}

absl::Status ReadId(const Control& control, DataType* type) {
  *type = DataTypeOf(control.data_type());
  constexpr DataType kTypes[] = {DataType::kUint64, DataType::kInt64, DataType::kUint32,
                                 DataType::kInt32, DataType::kBytes};
  if (absl::c_linear_search(kTypes, *type)) return absl::OkStatus();
  return WrongKey(".control_input.control.data_type",
                  "must be TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 or TYPE_STRING");
}

SequenceControl* ControlOf(Control::Kind kind, SequencePolicy* policy) {
  if (kind == Control::CONTROL_SEQUENCE_START) return &policy->start;
  if (kind == Control::CONTROL_SEQUENCE_READY) return &policy->ready;
  return &policy->end;
}

absl::Status ReadControl(const Sequences::ControlInput& input, SequencePolicy* policy,
                         std::vector<TensorSpec>* tensors) {
  if (input.name().empty()) return WrongKey(".control_input.name", "must be given");
  if (input.control_size() != 1) return WrongKey(".control_input.control", "must be there once");
  const Control& control = input.control(0);
  DataType type = DataType::kInvalid;
  std::string* name = &policy->id_input;
  absl::Status status;
  if (control.kind() == Control::CONTROL_SEQUENCE_CORRID) {
    status = ReadId(control, &type);
  } else {
    SequenceControl* const target = ControlOf(control.kind(), policy);
    name = &target->input;
    status = ReadValues(control, target, &type);
  }
  if (!status.ok()) return status;
  if (!name->empty()) return WrongKey(".control_input.control.kind", "is there twice");
  *name = input.name();
  tensors->push_back({input.name(), type, {1}});
  return absl::OkStatus();
}

absl::Status CheckInitial(const Sequences::State& state) {
  for (const Sequences::InitialState& initial : state.initial_state()) {
    if (initial.has_data_file())
      return WrongKey(".state.initial_state.data_file", "is not supported");
  }
  if (state.use_growable_memory())
    return WrongKey(".state.use_growable_memory", "is not supported");
  return absl::OkStatus();
}

absl::Status ReadState(const Sequences::State& state, const ModelConfig& model,
                       SequencePolicy* policy, std::vector<TensorSpec>* inputs,
                       std::vector<TensorSpec>* outputs) {
  if (state.input_name().empty()) return WrongKey(".state.input_name", "must be given");
  if (state.output_name().empty()) return WrongKey(".state.output_name", "must be given");
  if (absl::Status status = CheckInitial(state); !status.ok()) return status;
  TensorSpec tensor;
  tensor.datatype = DataTypeOf(state.data_type());
  tensor.dims.assign(state.dims().begin(), state.dims().end());
  const bool is_open = absl::c_any_of(tensor.dims, [](int64_t dim) { return dim < 0; });
  if (is_open) return WrongKey(".state.dims", "must be known: -1 is not supported");
  if (tensor.datatype == DataType::kInvalid || tensor.datatype == DataType::kBytes) {
    return WrongKey(".state.data_type", "must be given, and not TYPE_STRING");
  }
  tensor.name = state.output_name();
  const bool was_kept = model.sequences.has_value() && model.sequences->Keeps(tensor.name);
  const bool is_told =
      !was_kept && absl::c_any_of(model.spec.outputs, [&](const TensorSpec& output) {
        return output.name == tensor.name;
      });
  policy->states.push_back({state.input_name(), state.output_name(), is_told});
  if (!is_told) outputs->push_back(tensor);
  tensor.name = state.input_name();
  inputs->push_back(std::move(tensor));
  return absl::OkStatus();
}

absl::Status ReadDelay(const char* key, uint64_t delay_us, ModelConfig* model) {
  if (delay_us > kMostDelayUs) return WrongKey(key, "must be at most 10 s");
  model->batching.max_delay_ns = static_cast<int64_t>(delay_us) * kNsPerUs;
  return absl::OkStatus();
}

// A model may keep state by Triton's slot in a batch. Here a row has no fixed place.
absl::Status ReadDirect(const Sequences::StrategyDirect& direct, ModelConfig* model,
                        SequencePolicy* policy, std::vector<std::string>* ignored) {
  if (policy->states.empty()) {
    return WrongKey(".direct",
                    "is supported with 'state' only, and 'oldest' without: a row has no "
                    "fixed place in a batch");
  }
  policy->is_direct = true;
  policy->candidates = std::max(1U, model->spec.max_batch_size);
  if (direct.minimum_slot_utilization() > 0) {
    ignored->push_back("sequence_batching.direct.minimum_slot_utilization");
  }
  return ReadDelay(".direct.max_queue_delay_microseconds", direct.max_queue_delay_microseconds(),
                   model);
}

absl::Status ReadOldest(const Sequences::StrategyOldest& oldest, ModelConfig* model,
                        SequencePolicy* policy, std::vector<std::string>* ignored) {
  const int64_t candidates = oldest.max_candidate_sequences();
  if (candidates < 0 || candidates > kMaxCandidates) {
    return WrongKey(".oldest.max_candidate_sequences",
                    absl::StrCat("must be 0 to ", kMaxCandidates));
  }
  if (candidates > 0) policy->candidates = static_cast<uint32_t>(candidates);
  std::set<uint32_t> sizes;
  const uint32_t most = std::max(1U, model->spec.max_batch_size);
  for (const int32_t size : oldest.preferred_batch_size()) {
    if (size < 1 || static_cast<uint32_t>(size) > most) {
      return WrongKey(".oldest.preferred_batch_size", absl::StrCat("must be 1 to ", most));
    }
    sizes.insert(static_cast<uint32_t>(size));
  }
  if (sizes.size() > kMaxPreferredSizes) {
    return WrongKey(".oldest.preferred_batch_size",
                    absl::StrCat("must have at most ", kMaxPreferredSizes, " sizes"));
  }
  model->batching.preferred_sizes.assign(sizes.begin(), sizes.end());
  if (oldest.preserve_ordering()) ignored->push_back("sequence_batching.oldest.preserve_ordering");
  return ReadDelay(".oldest.max_queue_delay_microseconds", oldest.max_queue_delay_microseconds(),
                   model);
}

absl::Status CheckBeside(const ModelConfig& model) {
  if (model.spec.decoupled) return WrongKey("", "is not supported beside a decoupled model");
  if (model.response_cache != CacheScope::kOff) {
    return WrongKey("", "is not supported beside response_cache");
  }
  if (model.max_request_rows > 0) return WrongKey("", "is not supported beside max_request_rows");
  return absl::OkStatus();
}

absl::Status ReadTensors(const Sequences& source, SequencePolicy* policy, ModelConfig* model) {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  for (const Sequences::ControlInput& input : source.control_input()) {
    absl::Status status = ReadControl(input, policy, &inputs);
    if (!status.ok()) return status;
  }
  for (const Sequences::State& state : source.state()) {
    absl::Status status = ReadState(state, *model, policy, &inputs, &outputs);
    if (!status.ok()) return status;
  }
  std::set<std::string> names;
  for (const TensorSpec& input : inputs) {
    if (!names.insert(input.name).second) {
      return WrongKey("", absl::StrCat("names the input '", input.name, "' twice"));
    }
  }
  if (!model->spec.inputs.empty()) {
    for (TensorSpec& input : inputs) PutTensor(std::move(input), &model->spec.inputs);
  }
  if (!model->spec.outputs.empty()) {
    for (TensorSpec& output : outputs) PutTensor(std::move(output), &model->spec.outputs);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplySequences(const pb::ModelConfig& triton, ModelConfig* model,
                            std::vector<std::string>* ignored) {
  if (!triton.has_sequence_batching()) {
    return model->sequences.has_value() ? CheckBeside(*model) : absl::OkStatus();
  }
  const Sequences& source = triton.sequence_batching();
  if (source.iterative_sequence()) return WrongKey(".iterative_sequence", "is not supported");
  if (source.max_sequence_idle_microseconds() > kMostIdleUs) {
    return WrongKey(".max_sequence_idle_microseconds", "must be at most a day");
  }
  SequencePolicy policy;
  if (source.max_sequence_idle_microseconds() > 0) {
    policy.idle_ns = static_cast<int64_t>(source.max_sequence_idle_microseconds()) * kNsPerUs;
  }
  absl::Status status = ReadTensors(source, &policy, model);
  if (!status.ok()) return status;
  status = source.has_oldest() ? ReadOldest(source.oldest(), model, &policy, ignored)
                               : ReadDirect(source.direct(), model, &policy, ignored);
  if (!status.ok()) return status;
  model->sequences = std::move(policy);
  status = CheckBeside(*model);
  // Reading the JSON back checks the spec by a config's rules.
  return status.ok() ? ModelSpecFromJson(ToJson(model->spec)).status() : status;
}

void KeepSequenceTensors(const SequencePolicy& policy, const ModelSpec& spec, ModelSpec* fresh) {
  const auto keep = [](const TensorSpec& tensor, std::vector<TensorSpec>* tensors) {
    const bool is_there = absl::c_any_of(
        *tensors, [&](const TensorSpec& other) { return other.name == tensor.name; });
    if (!is_there) tensors->push_back(tensor);
  };
  for (const TensorSpec& input : spec.inputs) {
    if (policy.Supplies(input.name)) keep(input, &fresh->inputs);
  }
  for (const TensorSpec& output : spec.outputs) {
    if (policy.Keeps(output.name)) keep(output, &fresh->outputs);
  }
}

}  // namespace mpsd
