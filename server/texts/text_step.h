// text_step: turns a request's texts into rows of tokens, before the request is checked.
//
//   "text" BYTES[2,1] ──CheckTexts──▶ two texts ──TextEncoder──▶ two rows ──PutTensors──▶ TokenRows
//
// A model takes texts if its config or folder has a tokenizer, and its spec "input_ids" and
// "attention_mask". A request has either texts or tokens.
//
// Only Admission calls this: on the call's thread up to kInlineTextBytes, else on a thread of
// TaskThreads. Later steps see a request of tensors.
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

// True for an input "text" that the model lacks, if its config wants texts. Also if the tokenizer
// could not be read: EncodeTexts() says so, else the client would hear of a missing input. Pure.
bool HasTexts(const InferMessage& message, const ServedModel& model);

// Bytes of the request's inputs and of the prompts for its texts, a few more than the texts have.
// REQUIRES: the model is loaded. Pure.
uint64_t TextBytes(const InferMessage& message, const ServedModel& model);

// Each text has its wished or default prompt in front, whose tokens count as its own; pairs have
// none. Equal texts or pairs become one row. Before each text `go_on` is called, and its error ends
// the work. The largest text (text::kMaxTextBytes) takes some 200 ms. If a text is refused, nothing
// is kept or counted. Otherwise the model's metrics count tokens, cut texts and time.
//
// `message` and the model's spec outlive the result; the texts may go. The result names its
// tokenizer: the caller encodes again if another generation takes the request.
//
//   INVALID_ARGUMENT   the tensors "text" and "text_pair" have another datatype, shape or count of
//                      rows than BYTES[n,1] or BYTES[n], or other bytes; other inputs are there
//                      besides; a prompt is wished that there is none of, or one of pairs; a text
//                      that TextEncoder::Encode() refuses, by its place; tensors of more than
//                      kMaxTokenTensorBytes
//   UNAVAILABLE        the tokenizer could not be used; the log has said why
//
// Blocks for some 50 ms per MiB, and holds no lock. Takes the memory of the texts once more, and
// that for the tensors. REQUIRES: HasTexts(), and the model is loaded. Thread-safe.
absl::StatusOr<std::shared_ptr<TokenRows>> EncodeTexts(const InferMessage& message,
                                                       const ServedModel& model, const Clock* clock,
                                                       absl::FunctionRef<absl::Status()> go_on);

}  // namespace mpsd
