// forward_outputs: turns what a model's forward returned into the tensors of its spec.
//
// A forward may return a tensor, a list of strings, or a tuple, list or dict of these. A spec is a
// list of outputs with names, datatypes and shapes. On a request's path, inside step 9:
//
//   forward  →  OrderOutputs  →  CheckOutput, StringDims  →  OutputSink  →  CopyOutput
//
// An answer that does not fit the spec is INTERNAL here. ModelFailure() (torch_runtime.h) turns
// that into FAILED_PRECONDITION for the client, because no other rows would fit either.
//
// Pure functions except CopyOutput(); all thread-safe. They may throw what libtorch throws.
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

// One output: a tensor, or a list of strings, which is an output of datatype BYTES.
struct NamedOutput {
  std::string name;
  c10::IValue value;
};
using OutputValues = absl::InlinedVector<c10::IValue, 4>;

// Accepts one output; a tuple or list of outputs, which are then named OUTPUT__0, OUTPUT__1, …; or
// a dict of outputs by name. INTERNAL for anything else.
absl::StatusOr<std::vector<NamedOutput>> NameOutputs(const c10::IValue& returned);

// The answers of a decoupled model: the elements of a list, each of which is what an ordinary model
// returns. INTERNAL for anything else, and for more answers than a request may have.
absl::StatusOr<std::vector<c10::IValue>> SplitAnswers(const c10::IValue& returned);

// The outputs of forward in the order of `outputs`: a dict's by name, otherwise by position.
// INTERNAL when an output of the spec is missing or the numbers of outputs differ.
absl::StatusOr<OutputValues> OrderOutputs(const c10::IValue& returned,
                                          const std::vector<TensorSpec>& outputs);

// The shape of an output that is a list of `count` strings: the spec's dims, with the one unknown
// dim computed from `count`. INTERNAL when no such shape exists.
absl::StatusOr<Dims> StringDims(size_t count, const TensorSpec& output, bool batches,
                                int64_t row_count);

// OK if the tensor has the spec's datatype and dims and, when the model batches, `row_count` rows.
// INTERNAL says what differs.
absl::Status CheckOutput(const at::Tensor& tensor, const TensorSpec& output, bool batches,
                         int64_t row_count);

// Copies the tensor to `target`, contiguous, whatever its device and strides are. The bytes are
// complete on return or, with `non_blocking`, once the calling thread's stream is done.
void CopyOutput(const at::Tensor& tensor, void* target, bool non_blocking);

// Runs the model on `rows` rows of zeros and returns what forward returned. Each unknown dim of the
// inputs has its step-th length: a pad rule's bucket, otherwise 1, 2, ….
using TrialRun = absl::FunctionRef<absl::StatusOr<c10::IValue>(uint32_t rows, size_t step)>;

// Learns the outputs' names, datatypes and dims from two trial runs of different sizes; a dim that
// differs between them is -1. Called while loading.
absl::StatusOr<std::vector<TensorSpec>> LearnOutputs(const ModelSpec& spec, TrialRun run);

}  // namespace mpsd
