// forward_outputs: turns what a model's forward returned into the tensors of its spec.
//
//   forward  →  OrderOutputs  →  CheckOutput, StringDims  →  OutputSink  →  CopyOutput
//
// An answer that does not fit the spec is INTERNAL here; ModelFailure() makes it
// FAILED_PRECONDITION, because no other rows would fit either. All are thread-safe and may throw.
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

// A tensor, or a list of strings, which is an output of datatype BYTES.
struct NamedOutput {
  std::string name;
  c10::IValue value;
};
using OutputValues = absl::InlinedVector<c10::IValue, 4>;

// Accepts one output; a tuple or list of outputs, which are then named OUTPUT__0, OUTPUT__1, …; or
// a dict of outputs by name. INTERNAL for anything else.
absl::StatusOr<std::vector<NamedOutput>> NameOutputs(const c10::IValue& returned);

// A decoupled model's answers: the elements of a list. INTERNAL for anything else, and for more
// than kMaxAnswers.
absl::StatusOr<std::vector<c10::IValue>> SplitAnswers(const c10::IValue& returned);

// In the order of `outputs`: a dict's by name, otherwise by position. INTERNAL when an output is
// missing or the numbers of outputs differ.
absl::StatusOr<OutputValues> OrderOutputs(const c10::IValue& returned,
                                          const std::vector<TensorSpec>& outputs);

// The shape of `count` strings: the spec's dims, with the one unknown dim computed from `count`.
// INTERNAL when no such shape exists.
absl::StatusOr<Dims> StringDims(size_t count, const TensorSpec& output, bool batches,
                                int64_t row_count);

// OK if the tensor has the spec's datatype, dims and, when the model batches, `row_count` rows.
absl::Status CheckOutput(const at::Tensor& tensor, const TensorSpec& output, bool batches,
                         int64_t row_count);

// Copies a tensor of any device and strides to `target`, contiguous. With `non_blocking` the bytes
// are complete once the calling thread's stream is done.
void CopyOutput(const at::Tensor& tensor, void* target, bool non_blocking);

// Runs the model on `rows` rows of zeros and returns forward's result. Unknown dims of inputs have
// their step-th length (TrialDims()).
using TrialRun = absl::FunctionRef<absl::StatusOr<c10::IValue>(uint32_t rows, size_t step)>;

// Learns the outputs from two trial runs of different sizes; a dim that differs between them is -1.
// Called while loading.
absl::StatusOr<std::vector<TensorSpec>> LearnOutputs(const ModelSpec& spec, TrialRun run);

}  // namespace mpsd
