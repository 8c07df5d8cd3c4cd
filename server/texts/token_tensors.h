// token_tensors: makes the tensors of tokens that a model takes from rows.
//
// The model's spec alone says how many tokens a row may have, and gives the TokenPlaces. So the
// front end need not know families of models: the worker's spec says what fits. A model exported
// with the same inputs is served alike.
//
//   rows             101 7 102    101 8 9 102      of the tokenizer, p: the value that pads
//   input_ids        101 7 102 p  101 8 9 102
//   attention_mask     1 1   1 0    1 1 1   1
//   token_type_ids     0 0   0 0    0 0 0   0      of a pair, 1 for the second text
//
// Here all rows of a request get the same length; ApplyPadding (server/admit) then pads them to a
// bucket of the model, as it does with a client's tensors.
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

// Longest row of a model whose spec has no bound.
inline constexpr size_t kUsualRowTokens = 512;

// Limit of tokens in a row of the model: its fixed length, else its largest padding bucket, else
// kUsualRowTokens. Pure.
size_t MostRowTokens(const ModelSpec& spec, const TokenPlaces& places);

// Bytes of the tensors that PutTensors() makes of the rows. Pure.
uint64_t TensorBytesOf(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                       const TokenPlaces& places);

// Writes the rows into tensors that replace the inputs of `rows->message`. They have the model's
// fixed length, or that of the longest row. The padding is the value of the model's padding rule,
// else 0. The message's other fields are the caller's. Afterwards the message has views of `rows`
// and of the spec. REQUIRES: there is a row, the longest has a token, none has more than
// MostRowTokens(), and `rows` has no tensors. Pure.
void PutTensors(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                const TokenPlaces& places, TokenRows* rows);

}  // namespace mpsd
