#include "worker/model/torchscript_outputs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ATen/ops/from_blob.h"
#include "absl/strings/str_cat.h"
#include "worker/model/torchscript_types.h"

namespace mpsd {
namespace {

absl::Status NoTensor(const c10::IValue& returned) {
  return absl::InternalError(
      absl::StrCat("forward returned ", returned.type()->annotation_str(),
                   "; only tensors, tuples and lists of tensors, and dicts of tensors by name are "
                   "served"));
}

std::string NameOf(size_t index) { return absl::StrCat("OUTPUT__", index); }

absl::StatusOr<std::vector<NamedTensor>> NameElements(const c10::IValue& returned) {
  std::vector<NamedTensor> named;
  const auto elements =
      returned.isTuple() ? returned.toTupleRef().elements().vec() : returned.toListRef().vec();
  for (const c10::IValue& element : elements) {
    if (!element.isTensor()) return NoTensor(returned);
    named.push_back({NameOf(named.size()), element.toTensor()});
  }
  return named;
}

absl::StatusOr<OutputTensors> OrderDict(const c10::IValue& returned,
                                        const std::vector<TensorSpec>& outputs) {
  const auto dict = returned.toGenericDict();
  OutputTensors tensors;
  for (const TensorSpec& output : outputs) {
    const auto found = dict.find(output.name);
    if (found == dict.end() || !found->value().isTensor()) {
      return absl::InternalError(
          absl::StrCat("forward's dict has no tensor of the name '", output.name, "'"));
    }
    tensors.push_back(found->value().toTensor());
  }
  return tensors;
}

TensorSpec Describe(const NamedTensor& output, bool batches) {
  TensorSpec spec;
  spec.name = output.name;
  spec.datatype = FromScalarType(output.tensor.scalar_type());
  const auto sizes = output.tensor.sizes();
  spec.dims.assign(sizes.begin() + (batches ? 1 : 0), sizes.end());
  return spec;
}

absl::Status CheckTrial(const NamedTensor& output, bool batches, int64_t rows) {
  const at::Tensor& tensor = output.tensor;
  if (FromScalarType(tensor.scalar_type()) == DataType::kInvalid) {
    return absl::InternalError(absl::StrCat("output '", output.name, "' is of the type ",
                                            c10::toString(tensor.scalar_type()),
                                            ", which the protocol cannot carry"));
  }
  if (batches && (tensor.dim() == 0 || tensor.size(0) != rows)) {
    return absl::InternalError(absl::StrCat(
        "output '", output.name, "' has the shape ", ShapeText(tensor.sizes().vec()), " for ", rows,
        " rows; its first dim must be the batch, or max_batch_size must be 0"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorSpec>> DescribeRun(const ModelSpec& spec, TrialRun run,
                                                    uint32_t rows, size_t step) {
  const absl::StatusOr<c10::IValue> returned = run(rows, step);
  if (!returned.ok()) return returned.status();
  const absl::StatusOr<std::vector<NamedTensor>> named = NameOutputs(*returned);
  if (!named.ok()) return named.status();
  std::vector<TensorSpec> outputs;
  for (const NamedTensor& output : *named) {
    absl::Status status = CheckTrial(output, spec.batches(), rows);
    if (!status.ok()) return status;
    outputs.push_back(Describe(output, spec.batches()));
  }
  return outputs;
}

}  // namespace

absl::StatusOr<std::vector<NamedTensor>> NameOutputs(const c10::IValue& returned) {
  if (returned.isTensor()) return std::vector<NamedTensor>{{NameOf(0), returned.toTensor()}};
  if (returned.isTuple() || returned.isList()) return NameElements(returned);
  if (!returned.isGenericDict()) return NoTensor(returned);
  std::vector<NamedTensor> named;
  for (const auto& entry : returned.toGenericDict()) {
    if (!entry.key().isString() || !entry.value().isTensor()) return NoTensor(returned);
    named.push_back({entry.key().toStringRef(), entry.value().toTensor()});
  }
  return named;
}

absl::StatusOr<OutputTensors> OrderOutputs(const c10::IValue& returned,
                                           const std::vector<TensorSpec>& outputs) {
  if (returned.isTensor() && outputs.size() == 1) return OutputTensors{returned.toTensor()};
  if (returned.isGenericDict()) return OrderDict(returned, outputs);
  absl::StatusOr<std::vector<NamedTensor>> named = NameOutputs(returned);
  if (!named.ok()) return named.status();
  if (named->size() != outputs.size()) {
    return absl::InternalError(absl::StrCat("forward returned ", named->size(),
                                            " tensors where the spec has ", outputs.size(),
                                            " outputs"));
  }
  OutputTensors tensors;
  for (NamedTensor& output : *named) tensors.push_back(std::move(output.tensor));
  return tensors;
}

absl::Status CheckOutput(const at::Tensor& tensor, const TensorSpec& output, bool batches,
                         int64_t row_count) {
  if (!tensor.defined() || tensor.layout() != at::kStrided) {
    return absl::InternalError(absl::StrCat("output '", output.name, "' is no dense tensor"));
  }
  if (ToScalarType(output.datatype) != tensor.scalar_type()) {
    return absl::InternalError(absl::StrCat("output '", output.name, "' is of the type ",
                                            c10::toString(tensor.scalar_type()), ", not ",
                                            std::string(DataTypeName(output.datatype))));
  }
  if (batches && (tensor.dim() == 0 || tensor.size(0) != row_count)) {
    return absl::InternalError(absl::StrCat("output '", output.name, "' has the shape ",
                                            ShapeText(tensor.sizes()), " for a batch of ",
                                            row_count, " rows"));
  }
  const auto dims = tensor.sizes().slice(batches ? 1 : 0);
  const bool fits =
      std::equal(dims.begin(), dims.end(), output.dims.begin(), output.dims.end(),
                 [](int64_t dim, int64_t wanted) { return wanted < 0 || dim == wanted; });
  if (fits) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("output '", output.name, "' has rows of the shape ",
                                          ShapeText(dims), ", not ", ShapeText(output.dims)));
}

void CopyOutput(const at::Tensor& tensor, void* target) {
  if (tensor.numel() == 0) return;
  if (tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_neg()) {
    std::memcpy(target, tensor.const_data_ptr(), tensor.nbytes());
    return;
  }
  at::from_blob(target, tensor.sizes(), at::TensorOptions(tensor.scalar_type()))
      .copy_(tensor, /*non_blocking=*/false);
}

absl::StatusOr<std::vector<TensorSpec>> LearnOutputs(const ModelSpec& spec, TrialRun run) {
  absl::StatusOr<std::vector<TensorSpec>> small = DescribeRun(spec, run, 1, 0);
  if (!small.ok()) return small.status();
  const uint32_t rows = std::min(spec.max_batch_size, 2U);
  const absl::StatusOr<std::vector<TensorSpec>> large = DescribeRun(spec, run, rows, 1);
  if (!large.ok()) return large.status();
  if (small->size() != large->size()) {
    return absl::InternalError("forward returns another number of tensors for larger inputs");
  }
  for (size_t i = 0; i < small->size(); ++i) {
    Dims& dims = (*small)[i].dims;
    const Dims& other = (*large)[i].dims;
    if (dims.size() != other.size()) {
      return absl::InternalError(
          absl::StrCat("output '", (*small)[i].name, "' has another rank for larger inputs"));
    }
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      if (dims[dim] != other[dim]) dims[dim] = -1;
    }
  }
  return small;
}

}  // namespace mpsd
