#include "server/compose/sequences/sequence_plan.h"

#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/shape.h"

namespace mpsd {
namespace {

// Far below where sums of bytes overflow.
constexpr uint64_t kMaxStateBytes = 1ULL << 40;

absl::Status Misfit(absl::string_view name, absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat("sequences: '", name, "' ", what));
}

absl::StatusOr<uint32_t> Find(const std::string& name, const std::vector<TensorSpec>& tensors,
                              absl::string_view kind) {
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return i;
  }
  return Misfit(name, absl::StrCat("is no ", kind, " of the model"));
}

// Inputs that the front end supplies are never left out, and always have the model's form.
absl::StatusOr<uint32_t> FindSupplied(const std::string& name, const ModelSpec& spec) {
  const absl::StatusOr<uint32_t> input = Find(name, spec.inputs, "input");
  if (!input.ok()) return input;
  const TensorSpec& tensor = spec.inputs[*input];
  if (tensor.optional) return Misfit(name, "must not be optional");
  if (tensor.client_dims.has_value())
    return Misfit(name, "must not have another shape for clients");
  for (const int64_t dim : tensor.dims) {
    if (dim < 0) return Misfit(name, "must have a known shape");
  }
  return input;
}

bool IsOneElement(const TensorSpec& tensor) {
  int64_t elements = 1;
  for (const int64_t dim : tensor.dims) elements *= dim;
  return elements == 1;
}

template <typename Number>
void Put(double value, std::array<char, 4>* element) {
  const auto number = static_cast<Number>(value);
  std::memcpy(element->data(), &number, sizeof(number));
}

bool Encode(DataType datatype, double value, std::array<char, 4>* element) {
  if (datatype == DataType::kInt32) Put<int32_t>(value, element);
  if (datatype == DataType::kFp32) Put<float>(value, element);
  if (datatype == DataType::kBool) Put<uint8_t>(value != 0 ? 1 : 0, element);
  return datatype == DataType::kInt32 || datatype == DataType::kFp32 || datatype == DataType::kBool;
}

absl::Status PlanControl(const SequenceControl& control, const ModelSpec& spec,
                         std::optional<SequencePlan::Control>* plan) {
  if (control.input.empty()) return absl::OkStatus();
  const absl::StatusOr<uint32_t> input = FindSupplied(control.input, spec);
  if (!input.ok()) return input.status();
  const TensorSpec& tensor = spec.inputs[*input];
  SequencePlan::Control& found = plan->emplace();
  found.input = *input;
  found.bytes = ElementBytes(tensor.datatype);
  const bool is_known = Encode(tensor.datatype, control.no, &found.no) &&
                        Encode(tensor.datatype, control.yes, &found.yes);
  if (is_known && IsOneElement(tensor)) return absl::OkStatus();
  return Misfit(control.input, "must be one element of INT32, FP32 or BOOL");
}

bool IsIdType(DataType datatype) {
  switch (datatype) {
    case DataType::kUint64:
    case DataType::kInt64:
    case DataType::kUint32:
    case DataType::kInt32:
    case DataType::kBytes:
      return true;
    default:
      return false;
  }
}

absl::Status PlanId(const std::string& name, const ModelSpec& spec,
                    std::optional<SequencePlan::Id>* plan) {
  if (name.empty()) return absl::OkStatus();
  const absl::StatusOr<uint32_t> input = FindSupplied(name, spec);
  if (!input.ok()) return input.status();
  const TensorSpec& tensor = spec.inputs[*input];
  *plan = {*input, tensor.datatype};
  if (IsIdType(tensor.datatype) && IsOneElement(tensor)) return absl::OkStatus();
  return Misfit(name, "must be one element of UINT64, INT64, UINT32, INT32 or BYTES");
}

absl::Status PlanState(const SequenceState& state, const ModelSpec& spec, SequencePlan* plan) {
  const absl::StatusOr<uint32_t> input = FindSupplied(state.input, spec);
  if (!input.ok()) return input.status();
  const absl::StatusOr<uint32_t> output = Find(state.output, spec.outputs, "output");
  if (!output.ok()) return output.status();
  const TensorSpec& source = spec.outputs[*output];
  const TensorSpec& target = spec.inputs[*input];
  if (source.datatype != target.datatype || source.dims != target.dims) {
    return Misfit(state.output,
                  absl::StrCat("must have the type and shape of '", state.input, "'"));
  }
  // One row of a batch; without a batch dim the whole tensor.
  const std::optional<uint64_t> bytes = target.datatype == DataType::kBytes
                                            ? std::nullopt
                                            : TensorBytes(target.datatype, target.dims);
  if (!bytes.has_value() || *bytes > kMaxStateBytes) {
    return Misfit(state.input, "must have a known size");
  }
  plan->states.push_back({*input, *output, plan->state_bytes, *bytes});
  plan->state_bytes += *bytes;
  return absl::OkStatus();
}

bool Holds(DataType datatype, uint64_t number) {
  const auto as_signed = static_cast<int64_t>(number);
  if (datatype == DataType::kUint32) return number <= std::numeric_limits<uint32_t>::max();
  if (datatype != DataType::kInt32) return true;
  return as_signed >= std::numeric_limits<int32_t>::min() &&
         as_signed <= std::numeric_limits<int32_t>::max();
}

}  // namespace

absl::StatusOr<SequencePlan> SequencePlan::Of(const SequencePolicy& policy, const ModelSpec& spec) {
  SequencePlan plan;
  absl::Status status;
  if (spec.decoupled) {
    status = absl::FailedPreconditionError("sequences: the model is decoupled");
  }
  if (status.ok()) status = PlanControl(policy.start, spec, &plan.start);
  if (status.ok()) status = PlanControl(policy.ready, spec, &plan.ready);
  if (status.ok()) status = PlanControl(policy.end, spec, &plan.end);
  if (status.ok()) status = PlanId(policy.id_input, spec, &plan.id);
  for (const SequenceState& state : policy.states) {
    if (status.ok()) status = PlanState(state, spec, &plan);
  }
  if (!status.ok()) return status;
  return plan;
}

absl::Status SequencePlan::CheckId(const SequenceMark& mark) const {
  if (!id.has_value()) return absl::OkStatus();
  const bool is_text = id->datatype == DataType::kBytes;
  if (is_text != mark.name.empty() && (is_text || Holds(id->datatype, mark.number))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the model takes the id of a sequence as ",
                                                 DataTypeName(id->datatype),
                                                 ", which 'sequence_id' does not fit"));
}

}  // namespace mpsd
