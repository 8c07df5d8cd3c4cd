// token_tensors: the tensors that a model takes, from rows of tokens.
//
// The model's spec alone decides, so the front end need not know families of models.
//
//   rows             101 7 102    101 8 9 102      of the tokenizer, p: the value that pads
//   input_ids        101 7 102 p  101 8 9 102
//   attention_mask     1 1   1 0    1 1 1   1
//   token_type_ids     0 0   0 0    0 0 0   0      of a pair, 1 for the second text
//
// All rows of a request get one length; ApplyPadding then pads them to a bucket of the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "proto/link/token_places.h"
#include "server/request/token_rows.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd {

// For a model whose spec has no bound.
inline constexpr size_t kUsualRowTokens = 512;

// The model's fixed length, else its largest padding bucket, else kUsualRowTokens. Pure.
size_t MostRowTokens(const ModelSpec& spec, const TokenPlaces& places);

// Bytes of PutTensors()'s tensors. Pure.
uint64_t TensorBytesOf(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                       const TokenPlaces& places);

// Replaces the inputs of `rows->message` by tensors of the model's fixed length, or the longest
// row's, padded by the model's rule, else with 0. The message then has views of `rows` and of the
// spec. REQUIRES: there is a row, the longest has a token, none has more than MostRowTokens(), and
// `rows` has no tensors. Pure.
void PutTensors(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                const TokenPlaces& places, TokenRows* rows);

}  // namespace mpsd
