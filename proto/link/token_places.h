// TokenPlaces: which of a model's inputs are rows of tokens.
//
// Follows from the spec alone. Both ends use it: the front end tokenizes texts for these inputs and
// bounds their batches, the worker counts the tokens that the mask leaves out.
#pragma once

#include <cstddef>
#include <optional>

#include "proto/link/model_spec.h"

namespace mpsd {

// Indices of the inputs in a spec that take tokens, each a row of INT64 or INT32.
struct TokenPlaces {
  size_t ids = 0;               // "input_ids"
  size_t mask = 0;              // "attention_mask": 1 for a token, 0 for padding
  std::optional<size_t> types;  // "token_type_ids", if the model has them
};

// Nothing unless the model batches and has the first two inputs, with one dim each, of the right
// datatype, and not reshaped for clients. Further inputs do not matter here: a request of texts
// lacks them and is refused for that. Pure.
std::optional<TokenPlaces> FindTokenPlaces(const ModelSpec& spec);

}  // namespace mpsd
