// text_step: turns a request's texts into rows of tokens, before the request is checked.
//
// Step 3 of a request begins here if a client sends texts to a model that takes tokens:
//
//   "text" BYTES[2,1] ──CheckTexts──▶ two texts ──TextEncoder──▶ two rows ──PutTensors──▶ TokenRows
//
// A model takes texts if its config names a tokenizer, or its folder has one, and its spec has
// "input_ids" and "attention_mask". A request has either texts or tokens. The outputs are the
// model's.
//
// Only Admission calls this: on the call's thread if the texts have at most kInlineTextBytes
// together, else on a thread of TaskThreads. Later steps (Validate, ApplyPadding, the queue) see a
// request of tensors and cannot tell the difference.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/clock.h"
#include "server/request/infer_message.h"
#include "server/request/served_model.h"
#include "server/request/token_rows.h"

namespace mpsd {

// Whether the request has texts: it has an input "text", the model has none of that name, and the
// model's config wants texts. Also true if the tokenizer could not be read: EncodeTexts() then
// tells the client, which would otherwise hear of a missing input. Costs a request of tensors one
// comparison for each input. Pure.
bool HasTexts(const InferMessage& message, const ServedModel& model);

// Bytes of the request's inputs and of the prompts for its texts; the caller decides by them where
// to encode. A few more than the texts have, since each brings its length. REQUIRES: the model is
// loaded. Pure.
uint64_t TextBytes(const InferMessage& message, const ServedModel& model);

// The rows of a request's texts, each behind its wished or default prompt; pairs have no prompt.
// The prompt's tokens count as the text's own. Equal texts or pairs are encoded once and become one
// row; TokenRows says which, and the exchange gives each text its answer. Before each text `go_on`
// is called, and its error ends the work: the client is gone, or the deadline has passed. A text
// that has begun is not interrupted: the largest (text::kMaxTextBytes) takes some 200 ms. If one
// text is refused, no row is kept and nothing is counted. Otherwise tokens, cut texts and time are
// counted in the model's metrics.
//
// The result refers to `message` for names and parameters, and to the model's spec for the names of
// inputs, so both outlive it. The texts themselves may go. It also says whose tokenizer made it:
// the caller encodes again if another generation takes the request.
//
//   INVALID_ARGUMENT   the tensors "text" and "text_pair" have another datatype, shape or count of
//                      rows than BYTES[n,1] or BYTES[n], or other bytes; other inputs are there
//                      besides; a prompt is wished that there is none of, or one of pairs; a text
//                      that TextEncoder::Encode() refuses, by its place; tensors of more than
//                      kMaxTokenTensorBytes
//   UNAVAILABLE        the tokenizer could not be used; the log has said why
//
// Blocks for the encoding, some 50 ms for each MiB, and holds no lock. Uses memory for the texts
// once more, and for the tensors. REQUIRES: HasTexts(), and the model is loaded. Thread-safe.
absl::StatusOr<std::shared_ptr<TokenRows>> EncodeTexts(const InferMessage& message,
                                                       const ServedModel& model, const Clock* clock,
                                                       absl::FunctionRef<absl::Status()> go_on);

}  // namespace mpsd
