// text_step: the texts of a request become rows of tokens, before the request is checked.
//
// Step 3 of a request begins here where a client sends texts to a model that takes tokens:
//
//   "text" BYTES[2,1] ──CheckTexts──▶ two texts ──TextEncoder──▶ two rows ──PutTensors──▶ TokenRows
//
// A model takes texts when its config names a tokenizer, or its folder has one, and its spec has
// "input_ids" and "attention_mask". Tokens are taken as before; a request has texts or tokens, and
// not both. The outputs are the model's.
//
// Called by Admission alone: on the queue thread where the texts have at most kInlineTextBytes
// together, else on a thread of TextThreads. What comes behind it (Validate, ApplyPadding, the
// queue) sees a request of tensors and cannot tell the difference.
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

// Whether the request is one of texts: it has an input "text", the model none of that name, and the
// model's config wants texts to be taken. True also where the tokenizer could not be read: then the
// client learns that by EncodeTexts(), instead of that an input is missing. Costs requests of
// tensors a comparison for each input. Pure.
bool HasTexts(const InferMessage& message, const ServedModel& model);

// The bytes of the request's inputs, and of the prompts that stand in front of its texts, by which
// the caller decides where to encode: a few more than the texts have, since each brings its length.
// REQUIRES: the model is loaded. Pure.
uint64_t TextBytes(const InferMessage& message, const ServedModel& model);

// The rows of a request's texts, each with the prompt that it wishes in front of it, or the default
// one; texts of pairs have none. The prompt's tokens count as the text's own. Equal texts, or equal
// pairs, are encoded once and become one row; TokenRows says which, and the exchange gives each
// text its answer. `go_on` is asked before each text, and its error ends the work: the client is
// gone, or the deadline has passed. A text that has begun is not interrupted: the largest, of
// text::kMaxTextBytes, takes some 200 ms. Where one text is refused no row is kept, and nothing is
// counted; else tokens, cut texts and time are counted in the model's metrics.
//
// The result points into `message` for names and parameters, and not for texts, whose memory may
// go; and into the model's spec for the names of its inputs. So both outlive it. It also says whose
// tokenizer has made it: the caller encodes again where another generation takes the request.
//
//   INVALID_ARGUMENT   the tensors "text" and "text_pair" have another datatype, shape or count of
//                      rows than BYTES[n,1] or BYTES[n], or other bytes; other inputs are there
//                      besides; a prompt is wished that there is none of, or one of pairs; a text
//                      that TextEncoder::Encode() refuses, by its place; tensors of more than
//                      kMaxTokenTensorBytes
//   UNAVAILABLE        the tokenizer could not be used; the log has said why
//
// Blocks for the encoding, some 50 ms for each MiB, and holds no lock. Memory: the texts once more,
// and the tensors. REQUIRES: HasTexts(), and the model is loaded. Thread-safe.
absl::StatusOr<std::shared_ptr<TokenRows>> EncodeTexts(const InferMessage& message,
                                                       const ServedModel& model, const Clock* clock,
                                                       absl::FunctionRef<absl::Status()> go_on);

}  // namespace mpsd
