// infer_inputs: the tensors that `infer` sends, from files, at random, or from texts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/cli/infer_plan.h"
#include "client/cli/npy.h"
#include "client/cli/wordpiece.h"
#include "client/client.h"

namespace mpsd::cli {

struct NamedArray {
  std::string name;
  NpyArray array;
};

// The arrays of `plan`: `files` as they are, or with the requested shape; random arrays as
// `metadata` describes them. `batch` (0: not given) is the length of dim 0 where the model leaves
// it open. INVALID_ARGUMENT names the input that cannot be made. Pure, thread-safe.
absl::StatusOr<std::vector<NamedArray>> TensorInputs(const InferPlan& plan,
                                                     std::vector<NpyArray> files,
                                                     const client::ModelMetadata& metadata,
                                                     int64_t batch, uint64_t seed);

// The texts as rows of input_ids and attention_mask, both INT64; token_type_ids too if the model
// takes them. Shorter rows are padded with [PAD], which the mask hides. Sets `token_counts` to each
// row's true length. INVALID_ARGUMENT when the model takes no token ids. Pure, thread-safe.
absl::StatusOr<std::vector<NamedArray>> TextInputs(absl::Span<const std::string> texts,
                                                   const WordPiece& pieces,
                                                   const client::ModelMetadata& metadata,
                                                   std::vector<size_t>* token_counts);

}  // namespace mpsd::cli
