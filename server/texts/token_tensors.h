// token_tensors: the tensors of tokens that a model takes, and how they are made of rows.
//
// How many tokens a row may have follows from the model's spec alone, as TokenPlaces do. So the
// front end need not know the families of models: the worker has said with its spec what fits, and
// a model that was exported with the same inputs is served alike.
//
//   rows             101 7 102    101 8 9 102      of the tokenizer, p: the value that pads
//   input_ids        101 7 102 p  101 8 9 102
//   attention_mask     1 1   1 0    1 1 1   1
//   token_type_ids     0 0   0 0    0 0 0   0      of a pair, 1 for the second text
//
// All rows of a request are made as long as each other here; ApplyPadding (server/admit) then takes
// them to a bucket of the model, as it would a client's own tensors.
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

// The longest row of a model whose spec bounds none.
inline constexpr size_t kUsualRowTokens = 512;

// The most tokens that a row of the model may have: its fixed length, else the largest bucket that
// it is padded to, else kUsualRowTokens. Pure.
size_t MostRowTokens(const ModelSpec& spec, const TokenPlaces& places);

// The bytes of the tensors that PutTensors() makes of the rows. Pure.
uint64_t TensorBytesOf(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                       const TokenPlaces& places);

// Writes the rows into tensors of the model's fixed length, or as long as the longest of them, pads
// the others with the value of the model's padding rule, else 0, and puts those into
// `rows->message` in place of its inputs. The other fields of the message are the caller's. The
// message has views of `rows` and of the spec afterwards. REQUIRES: there is a row, the longest has
// a token, none has more than MostRowTokens(), and `rows` has no tensors. Pure.
void PutTensors(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                const TokenPlaces& places, TokenRows* rows);

}  // namespace mpsd
