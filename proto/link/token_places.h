// TokenPlaces: which of a model's inputs are rows of tokens.
//
// Follows from the spec alone, for both ends: the front end makes tokens of texts for these inputs
// and bounds their batches, the worker counts what the mask leaves out.
#pragma once

#include <cstddef>
#include <optional>

#include "proto/link/model_spec.h"

namespace mpsd {

// The places of a spec's inputs that take tokens, each a row of INT64 or INT32.
struct TokenPlaces {
  size_t ids = 0;               // "input_ids"
  size_t mask = 0;              // "attention_mask": 1 for a token, 0 for padding
  std::optional<size_t> types;  // "token_type_ids", where the model has them
};

// Nothing where the model does not batch, lacks one of the first two, or has them in another form:
// with more dims than one, of another datatype, or reshaped for clients. Further inputs of the
// model do not matter here: a request of texts lacks them, and is refused for that. Pure.
std::optional<TokenPlaces> FindTokenPlaces(const ModelSpec& spec);

}  // namespace mpsd
