// letter_case: whether a vocabulary tells upper from lower case, as the files beside it say.
//
// Hugging Face tools save a tokenizer's settings beside its vocab.txt. WordPiece has two ways to
// read a text; a folder that asks for a third one is refused by the name of its setting, since its
// model would get other tokens than those of its training.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// kLower: all letters become lower case and lose their accents. kKept: a text stays as it is.
enum class LetterCase { kLower, kKept };

// The contents of the files that may stand beside a vocabulary; empty where there is none.
struct TokenizerFiles {
  std::string tokenizer_config;      // tokenizer_config.json
  std::string tokenizer;             // tokenizer.json
  std::string sentence_bert_config;  // sentence_bert_config.json
};

// `do_lower_case` of tokenizer_config.json, else `lowercase` of the normalizer in tokenizer.json,
// else kLower. INVALID_ARGUMENT names the file and the setting: no JSON object, a value of another
// type, a normalizer that is no BertNormalizer, accents that are not stripped exactly where letters
// become lower case, ideographs that are no words of their own, or a sentence_bert_config.json that
// wants lower case for a cased vocabulary. Pure, thread-safe.
absl::StatusOr<LetterCase> LetterCaseOf(const TokenizerFiles& files);

// The same of the files in the folder of `vocab_path`, each of at most 64 MiB. Blocks for the
// reading. Thread-safe.
absl::StatusOr<LetterCase> ReadLetterCase(const std::string& vocab_path);

}  // namespace mpsd
