// part_readers: reads each part of a tokenizer from its JSON.
//
//   "added_tokens"     parts_reader.cc
//   "normalizer"       normalizer_reader.cc        ReadNormalizer()
//   "pre_tokenizer"    pre_tokenizer_reader.cc     ReadPreTokenizer()
//   "model"            model_reader.cc             ReadModel()
//   "post_processor"   frame_reader.cc             ReadFrame()
//
// The file is untrusted. INVALID_ARGUMENT names the first fault or unknown thing; a part that was
// made behaves exactly as the reference's. All functions are pure and thread-safe.
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

absl::StatusOr<TokenizerParts> ReadParts(absl::string_view json);

absl::StatusOr<std::unique_ptr<Normalizer>> ReadNormalizer(const Json& json);

absl::StatusOr<std::unique_ptr<PreTokenizer>> ReadPreTokenizer(const Json& json);

absl::StatusOr<std::unique_ptr<Model>> ReadModel(const Json& json,
                                                 const TokenizerDocument& document);

// Reads TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel (which changes nothing),
// or a sequence in which at most one changes something.
absl::StatusOr<Frame> ReadFrame(const Json& json);

}  // namespace mpsd::text
