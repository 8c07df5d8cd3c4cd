// The tensors that `infer` sends: from files, made at random, or from texts.
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

// The arrays of `plan`: `files` as they are, or with the shape that was asked for; random ones by
// `metadata`. `batch` (0: not given) goes where the model leaves dim 0 of a random input open.
// INVALID_ARGUMENT says which input cannot be made. Pure, thread-safe.
absl::StatusOr<std::vector<NamedArray>> TensorInputs(const InferPlan& plan,
                                                     std::vector<NpyArray> files,
                                                     const client::ModelMetadata& metadata,
                                                     int64_t batch, uint64_t seed);

// The texts as rows: input_ids and attention_mask, both INT64, the shorter rows filled up with
// [PAD], which the mask hides; token_type_ids too where the model takes them. `token_counts` gets
// each row's true length. INVALID_ARGUMENT when the model takes no token ids. Pure, thread-safe.
absl::StatusOr<std::vector<NamedArray>> TextInputs(absl::Span<const std::string> texts,
                                                   const WordPiece& pieces,
                                                   const client::ModelMetadata& metadata,
                                                   std::vector<size_t>* token_counts);

}  // namespace mpsd::cli
