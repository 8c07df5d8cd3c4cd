#include "server/admit/validator.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/limits.h"
#include "proto/base/reshape.h"
#include "proto/base/shape.h"
#include "server/request/retry_info.h"
#include "server/request/string_elements.h"

namespace mpsd {
namespace {

// The message's inputs, in the order of the spec's.
using InputOrder = absl::InlinedVector<const InputMessage*, 4>;

template <typename... Words>
absl::Status Invalid(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

std::string ForModel(const ServedModel& model) { return " for model '" + model.name + "'"; }

std::string Quoted(const std::vector<absl::string_view>& names) {
  return absl::StrCat("[",
                      absl::StrJoin(names, ",",
                                    [](std::string* out, absl::string_view name) {
                                      absl::StrAppend(out, "'", name, "'");
                                    }),
                      "]");
}

// Numbers of inputs that clients send: all, and required ones.
struct InputCounts {
  size_t all = 0;
  size_t required = 0;

  explicit InputCounts(const ServedModel& model) {
    for (const TensorSpec& tensor : model.spec.inputs) {
      if (!model.IsAskedFor(tensor)) continue;
      ++all;
      if (!tensor.optional) ++required;
    }
  }
};

absl::Status WrongInputs(const InferMessage& message, const ServedModel& model) {
  const std::vector<TensorSpec>& specs = model.spec.inputs;
  std::vector<absl::string_view> got;
  for (const InputMessage& input : message.inputs) got.push_back(input.name);
  std::vector<absl::string_view> missing;
  for (const TensorSpec& tensor : specs) {
    const bool is_there = std::find(got.begin(), got.end(), tensor.name) != got.end();
    if (!is_there && !tensor.optional && model.IsAskedFor(tensor)) missing.push_back(tensor.name);
  }
  const InputCounts counts(model);
  const std::string expected = counts.required == counts.all
                                   ? absl::StrCat("expected ", counts.required, " inputs")
                                   : absl::StrCat("expected number of inputs between ",
                                                  counts.required, " and ", counts.all);
  return absl::InvalidArgumentError(
      absl::StrCat(expected, " but got ", got.size(), " inputs for model '", model.name,
                   "'. Got input(s) ", Quoted(got), ", but missing required input(s) ",
                   Quoted(missing), ". Please provide all required input(s)."));
}

bool LacksRequired(const ServedModel& model, const InputOrder& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    const TensorSpec& tensor = model.spec.inputs[i];
    if (order[i] == nullptr && !tensor.optional && model.IsAskedFor(tensor)) return true;
  }
  return false;
}

// Null for an input that is left out.
absl::Status Order(const InferMessage& message, const ServedModel& model, InputOrder* order) {
  const std::vector<TensorSpec>& specs = model.spec.inputs;
  const InputCounts counts(model);
  const bool right_count =
      message.inputs.size() >= counts.required && message.inputs.size() <= counts.all;
  order->assign(specs.size(), nullptr);
  for (const InputMessage& input : message.inputs) {
    const auto found = std::find_if(specs.begin(), specs.end(), [&](const TensorSpec& tensor) {
      return tensor.name == input.name && model.IsAskedFor(tensor);
    });
    if (found == specs.end()) {
      if (!right_count) continue;
      return absl::InvalidArgumentError(absl::StrCat("unexpected inference input '", input.name,
                                                     "' for model '", model.name, "'"));
    }
    const InputMessage*& entry = (*order)[static_cast<size_t>(found - specs.begin())];
    if (entry != nullptr) {
      return WithId(absl::InvalidArgumentError(
                        absl::StrCat("input '", input.name, "' already exists in request")),
                    message.id);
    }
    entry = &input;
  }
  if (!right_count || LacksRequired(model, *order)) {
    return WithId(WrongInputs(message, model), message.id);
  }
  return absl::OkStatus();
}

std::string ExpectedShape(const TensorSpec& tensor, bool batches) {
  Dims dims = tensor.told_dims();
  if (batches) dims.insert(dims.begin(), -1);
  return ShapeText(dims);
}

absl::Status CheckShape(const InputMessage& input, const TensorSpec& tensor,
                        const ServedModel& model, Request* request) {
  if (input.dims.size() > kMaxRank + 1) {
    return Invalid("input '", tensor.name, "' has more than ", kMaxRank, " dimensions",
                   ForModel(model));
  }
  if (std::find(input.dims.begin(), input.dims.end(), -1) != input.dims.end()) {
    return Invalid("All input dimensions should be specified for input '", tensor.name,
                   "' for model '", model.name, "', got ", ShapeText(input.dims));
  }
  absl::Span<const int64_t> dims = input.dims;
  if (model.spec.batches()) {
    if (dims.empty()) {
      return Invalid("input '", tensor.name, "' has no shape but model requires batch dimension",
                     " for '", model.name, "'");
    }
    dims.remove_prefix(1);
  }
  if (!ShapeFits(tensor.told_dims(), dims) || (model.spec.batches() && input.dims[0] < 1)) {
    return Invalid("unexpected shape for input '", tensor.name, "'", ForModel(model), ". Expected ",
                   ExpectedShape(tensor, model.spec.batches()), ", got ", ShapeText(input.dims),
                   ".");
  }
  RequestInput& parsed = request->inputs.emplace_back();
  parsed.datatype = tensor.datatype;
  parsed.dims = tensor.client_dims.has_value() ? Reshaped(*tensor.client_dims, tensor.dims, dims)
                                               : Dims(dims.begin(), dims.end());
  parsed.payload = &input.payload;
  return absl::OkStatus();
}

// The first input that the client sends determines the number of rows.
bool IsFirst(const Request& request) {
  return std::count_if(request.inputs.begin(), request.inputs.end(),
                       [](const auto& input) { return input.payload != nullptr; }) == 1;
}

absl::Status CheckBatch(const InputMessage& input, const TensorSpec& tensor,
                        const ServedModel& model, Request* request) {
  if (!model.spec.batches()) return absl::OkStatus();
  const int64_t rows = input.dims[0];
  if (rows > model.MostRows()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "inference request batch-size must be <= ", model.MostRows(), " for '", model.name, "'"));
  }
  if (!IsFirst(*request) && rows != request->rows) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input '", tensor.name, "' batch size does not match other inputs for '", model.name, "'"));
  }
  request->rows = static_cast<uint32_t>(rows);
  return absl::OkStatus();
}

absl::Status CheckBytes(const InputMessage& input, const TensorSpec& tensor,
                        const ServedModel& model, absl::string_view id, RequestInput* parsed) {
  if (input.has_typed && !input.typed_error.empty()) return Invalid(input.typed_error);
  if (!input.has_data) {
    return Invalid("unable to find data for input tensor '", tensor.name, "' for model '",
                   model.name, "' in request.");
  }
  if (tensor.datatype == DataType::kBytes) {
    parsed->tensor_bytes = input.payload.bytes;
    return WithId(CheckStrings(input.payload, tensor.name, model.name, input.dims), id);
  }
  const std::optional<uint64_t> bytes = TensorBytes(tensor.datatype, input.dims);
  if (!bytes.has_value()) {
    return WithId(
        Invalid("input '", tensor.name, "' is larger than any tensor can be", ForModel(model)), id);
  }
  if (input.payload.bytes != *bytes) {
    return WithId(Invalid("input byte size mismatch for input '", tensor.name, "'", ForModel(model),
                          ". Expected ", *bytes, ", got ", input.payload.bytes),
                  id);
  }
  return absl::OkStatus();
}

absl::Status CheckInput(const InputMessage& input, size_t index, const InferMessage& message,
                        const ServedModel& model, Request* request) {
  const TensorSpec& tensor = model.spec.inputs[index];
  if (input.datatype != DataTypeName(tensor.datatype)) {
    return WithId(
        absl::InvalidArgumentError(absl::StrCat(
            "inference input '", tensor.name, "' data-type is '", input.datatype, "', but model '",
            model.name, "' expects '", DataTypeName(tensor.datatype), "'")),
        message.id);
  }
  if (message.raw_count > 0 && input.has_typed) {
    return absl::InvalidArgumentError(
        absl::StrCat("contents field must not be specified when using raw_input_contents for '",
                     tensor.name, "' for model '", model.name, "'"));
  }
  absl::Status status = CheckShape(input, tensor, model, request);
  if (status.ok()) status = CheckBatch(input, tensor, model, request);
  if (!status.ok()) return WithId(status, message.id);
  return CheckBytes(input, tensor, model, message.id, &request->inputs.back());
}

// An input that is left out has no facts; one that the front end supplies lacks only its bytes.
void AddUnsent(const ServedModel& model, size_t index, Request* request) {
  const TensorSpec& tensor = model.spec.inputs[index];
  RequestInput& input = request->inputs.emplace_back();
  if (model.IsAskedFor(tensor)) return;
  input.datatype = tensor.datatype;
  input.dims = tensor.dims;
}

absl::Status CheckOutputs(const InferMessage& message, const ServedModel& model, Request* request) {
  const std::vector<TensorSpec>& specs = model.spec.outputs;
  if (message.outputs.empty()) {
    for (uint32_t i = 0; i < specs.size(); ++i) {
      if (model.IsTold(specs[i])) request->wanted_outputs.push_back(i);
    }
    return absl::OkStatus();
  }
  for (const absl::string_view name : message.outputs) {
    uint32_t index = 0;
    while (index < specs.size() && specs[index].name != name) ++index;
    if (index == specs.size() || !model.IsTold(specs[index])) {
      return absl::InvalidArgumentError(
          absl::StrCat("unexpected inference output '", name, "' for model '", model.name, "'"));
    }
    const auto& wanted = request->wanted_outputs;
    if (std::find(wanted.begin(), wanted.end(), index) != wanted.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("output '", name, "' already exists in request"));
    }
    request->wanted_outputs.push_back(index);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const InferMessage& message, const ServedModel& model, Request* request) {
  if (!message.parameter_error.empty()) return absl::InvalidArgumentError(message.parameter_error);
  if (message.inputs.size() > kMaxTensors || message.outputs.size() > kMaxTensors) {
    return WithId(absl::InvalidArgumentError(absl::StrCat("a request has at most ", kMaxTensors,
                                                          " tensors for model '", model.name, "'")),
                  message.id);
  }
  const size_t raw_inputs = message.inputs.size() - message.region_inputs;
  if (message.raw_count > raw_inputs) {
    return WithId(absl::InvalidArgumentError(
                      absl::StrCat("expected ", raw_inputs, " raw input contents but got ",
                                   message.raw_count, " for model '", model.name, "'")),
                  message.id);
  }
  InputOrder order;
  if (absl::Status status = Order(message, model, &order); !status.ok()) return status;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] == nullptr) {
      AddUnsent(model, i, request);
      continue;
    }
    absl::Status status = CheckInput(*order[i], i, message, model, request);
    if (!status.ok()) return status;
  }
  return CheckOutputs(message, model, request);
}

}  // namespace mpsd
