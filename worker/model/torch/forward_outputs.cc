#include "worker/model/torch/forward_outputs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ATen/ops/from_blob.h"
#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "worker/model/torch/scalar_types.h"

namespace mpsd {
namespace {

absl::Status NoTensor(const c10::IValue& returned) {
  return absl::InternalError(
      absl::StrCat("forward returned ", returned.type()->annotation_str(),
                   "; only tensors and lists of strings, tuples and lists of them, and dicts of "
                   "them by name are served"));
}

bool IsStrings(const c10::IValue& value) {
  return value.isList() && value.toList().elementType()->kind() == c10::TypeKind::StringType;
}

bool IsOutput(const c10::IValue& value) { return value.isTensor() || IsStrings(value); }

std::string PositionName(size_t index) { return absl::StrCat("OUTPUT__", index); }

absl::StatusOr<std::vector<NamedOutput>> NameElements(const c10::IValue& returned) {
  std::vector<NamedOutput> named;
  const auto elements =
      returned.isTuple() ? returned.toTupleRef().elements().vec() : returned.toListRef().vec();
  for (const c10::IValue& element : elements) {
    if (!IsOutput(element)) return NoTensor(returned);
    named.push_back({PositionName(named.size()), element});
  }
  return named;
}

absl::StatusOr<OutputValues> OrderDict(const c10::IValue& returned,
                                       const std::vector<TensorSpec>& outputs) {
  const auto dict = returned.toGenericDict();
  OutputValues values;
  for (const TensorSpec& output : outputs) {
    const auto found = dict.find(output.name);
    if (found == dict.end() || !IsOutput(found->value())) {
      return absl::InternalError(
          absl::StrCat("forward's dict has no tensor of the name '", output.name, "'"));
    }
    values.push_back(found->value());
  }
  return values;
}

TensorSpec Describe(const NamedOutput& output, bool batches, int64_t rows) {
  TensorSpec spec;
  spec.name = output.name;
  if (IsStrings(output.value)) {
    const auto count = static_cast<int64_t>(output.value.toListRef().size());
    spec.datatype = DataType::kBytes;
    spec.dims = {batches ? count / rows : count};
    return spec;
  }
  const at::Tensor& tensor = output.value.toTensor();
  spec.datatype = FromScalarType(tensor.scalar_type());
  const auto sizes = tensor.sizes();
  spec.dims.assign(sizes.begin() + (batches ? 1 : 0), sizes.end());
  return spec;
}

absl::Status CheckTrial(const NamedOutput& output, bool batches, int64_t rows) {
  if (IsStrings(output.value)) {
    const auto count = static_cast<int64_t>(output.value.toListRef().size());
    if (!batches || (count > 0 && count % rows == 0)) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("output '", output.name, "' has ", count, " strings for ", rows, " rows"));
  }
  const at::Tensor& tensor = output.value.toTensor();
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
  const absl::StatusOr<std::vector<NamedOutput>> named = NameOutputs(*returned);
  if (!named.ok()) return named.status();
  std::vector<TensorSpec> outputs;
  for (const NamedOutput& output : *named) {
    absl::Status status = CheckTrial(output, spec.batches(), rows);
    if (!status.ok()) return status;
    outputs.push_back(Describe(output, spec.batches(), rows));
  }
  return outputs;
}

}  // namespace

absl::StatusOr<std::vector<NamedOutput>> NameOutputs(const c10::IValue& returned) {
  if (IsOutput(returned)) return std::vector<NamedOutput>{{PositionName(0), returned}};
  if (returned.isTuple() || returned.isList()) return NameElements(returned);
  if (!returned.isGenericDict()) return NoTensor(returned);
  std::vector<NamedOutput> named;
  for (const auto& entry : returned.toGenericDict()) {
    if (!entry.key().isString() || !IsOutput(entry.value())) return NoTensor(returned);
    named.push_back({entry.key().toStringRef(), entry.value()});
  }
  return named;
}

absl::StatusOr<std::vector<c10::IValue>> SplitAnswers(const c10::IValue& returned) {
  if (!returned.isList()) {
    return absl::InternalError(
        absl::StrCat("forward returned ", returned.type()->annotation_str(),
                     "; that of a decoupled model returns a list, an element for each answer"));
  }
  if (returned.toListRef().size() > kMaxAnswers) {
    return absl::InternalError(
        absl::StrCat("forward returned more than ", kMaxAnswers, " answers"));
  }
  return returned.toListRef().vec();
}

absl::StatusOr<OutputValues> OrderOutputs(const c10::IValue& returned,
                                          const std::vector<TensorSpec>& outputs) {
  if (IsOutput(returned) && outputs.size() == 1) return OutputValues{returned};
  if (returned.isGenericDict()) return OrderDict(returned, outputs);
  absl::StatusOr<std::vector<NamedOutput>> named = NameOutputs(returned);
  if (!named.ok()) return named.status();
  if (named->size() != outputs.size()) {
    return absl::InternalError(absl::StrCat("forward returned ", named->size(),
                                            " tensors where the spec has ", outputs.size(),
                                            " outputs"));
  }
  OutputValues values;
  for (NamedOutput& output : *named) values.push_back(std::move(output.value));
  return values;
}

absl::StatusOr<Dims> StringDims(size_t count, const TensorSpec& output, bool batches,
                                int64_t row_count) {
  Dims dims = output.dims;
  if (batches) dims.insert(dims.begin(), row_count);
  int64_t known = 1;
  int64_t* unknown = nullptr;
  for (int64_t& dim : dims) {
    if (dim >= 0) known *= dim;
    if (dim < 0 && unknown == nullptr) unknown = &dim;
  }
  const auto total = static_cast<int64_t>(count);
  if (unknown != nullptr && known > 0 && total % known == 0) *unknown = total / known;
  if (ElementCount(dims) == count) return dims;
  return absl::InternalError(absl::StrCat("output '", output.name, "' has ", count,
                                          " strings, which do not make the shape ",
                                          ShapeText(dims)));
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

void CopyOutput(const at::Tensor& tensor, void* target, bool non_blocking) {
  if (tensor.numel() == 0) return;
  if (tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_neg()) {
    std::memcpy(target, tensor.const_data_ptr(), tensor.nbytes());
    return;
  }
  at::from_blob(target, tensor.sizes(), at::TensorOptions(tensor.scalar_type()))
      .copy_(tensor, non_blocking);
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
