// TokenPlaces: which of a model's inputs are rows of tokens, by its spec.
//
// The front end tokenizes texts for these inputs, the worker counts the tokens in the mask.
#pragma once

#include <cstddef>
#include <optional>

#include "proto/link/model_spec.h"

namespace mpsd {

// Indices of inputs in the spec; rows of INT64 or INT32.
struct TokenPlaces {
  size_t ids = 0;               // "input_ids"
  size_t mask = 0;              // "attention_mask": 0 for padding
  std::optional<size_t> types;  // "token_type_ids"
};

// Nothing unless the model batches and has the first two inputs, with one dim, of the right
// datatype, and not reshaped for clients. Further inputs do not matter here. Pure.
std::optional<TokenPlaces> FindTokenPlaces(const ModelSpec& spec);

}  // namespace mpsd
