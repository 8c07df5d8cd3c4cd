// part_readers: the parts of a tokenizer, each from its JSON.
//
// A tokenizer.json is one object with a member for each part. ReadParts() walks it and hands each
// member to its reader:
//
//   "added_tokens"     parts_reader.cc
//   "normalizer"       normalizer_reader.cc        ReadNormalizer()
//   "pre_tokenizer"    pre_tokenizer_reader.cc     ReadPreTokenizer()
//   "model"            model_reader.cc             ReadModel()
//   "post_processor"   frame_reader.cc             ReadFrame()
//
// The file is untrusted and new versions of it have new kinds. So a reader makes the whole part or
// none: whatever it does not know is INVALID_ARGUMENT, which names the first thing that is wrong or
// unknown. A part that was made behaves exactly as the reference's. All functions are pure and
// thread-safe; time and memory are bounded by the bounds of ParseDocument() and of step_reader.h.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/normalize/normalizer.h"
#include "text/split/pre_tokenizer.h"
#include "text/subword/model.h"
#include "text/tokenizer/fields.h"
#include "text/tokenizer/frame.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/tokenizer_document.h"

namespace mpsd::text {

// All parts, from the text of a tokenizer.json.
absl::StatusOr<TokenizerParts> ReadParts(absl::string_view json);

// The first step.
absl::StatusOr<std::unique_ptr<Normalizer>> ReadNormalizer(const Json& json);

// The second step.
absl::StatusOr<std::unique_ptr<PreTokenizer>> ReadPreTokenizer(const Json& json);

// The third step, of the document's model, with its vocabulary.
absl::StatusOr<std::unique_ptr<Model>> ReadModel(const Json& json,
                                                 const TokenizerDocument& document);

// What stands around a text, or around and between two: of TemplateProcessing, BertProcessing and
// RobertaProcessing; of ByteLevel, which adds nothing; of a sequence in which at most one adds
// something.
absl::StatusOr<Frame> ReadFrame(const Json& json);

}  // namespace mpsd::text
