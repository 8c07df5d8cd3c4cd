// What a forward returned, as the tensors of a spec.
#pragma once

#include <string>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "ATen/core/ivalue.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/model_spec.h"
#include "worker/model/model.h"

namespace mpsd {

// A tensor, or a list of strings, which is an output of BYTES.
struct NamedOutput {
  std::string name;
  c10::IValue value;
};
using OutputValues = absl::InlinedVector<c10::IValue, 4>;

// An output, a tuple or list of outputs (named OUTPUT__0, OUTPUT__1, …), or a dict of outputs by
// name.
absl::StatusOr<std::vector<NamedOutput>> NameOutputs(const c10::IValue& returned);

// The same in the order of `outputs`: a dict's by name, otherwise by position.
absl::StatusOr<OutputValues> OrderOutputs(const c10::IValue& returned,
                                          const std::vector<TensorSpec>& outputs);

// The shape in which a list of `count` strings is the output: its dims with the one unknown of them
// worked out. INTERNAL where that cannot be.
absl::StatusOr<Dims> StringDims(size_t count, const TensorSpec& output, bool batches,
                                int64_t row_count);

// Holds `tensor` to its spec. A model that batches must give as many rows as it was given.
absl::Status CheckOutput(const at::Tensor& tensor, const TensorSpec& output, bool batches,
                         int64_t row_count);

// Copies the tensor, of whatever device and strides, to `target`, contiguous. It is there on
// return, or with `non_blocking` when the calling thread's stream has been waited for.
void CopyOutput(const at::Tensor& tensor, void* target, bool non_blocking);

// Runs the model on `rows` rows of zeros, with all unknown dims of its inputs at their step-th
// length: a pad rule's bucket, else 1, 2, …. Returns what forward returned.
using TrialRun = absl::FunctionRef<absl::StatusOr<c10::IValue>(uint32_t rows, size_t step)>;

// Learns the outputs' names, datatypes and dims from two trial runs of different size: a dim that
// differs is -1.
absl::StatusOr<std::vector<TensorSpec>> LearnOutputs(const ModelSpec& spec, TrialRun run);

}  // namespace mpsd
