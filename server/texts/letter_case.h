// letter_case: whether a tokenizer tells upper from lower case, as the files beside it say.
//
// Hugging Face tools save a tokenizer's settings beside it, and where the two disagree they follow
// the settings. WordPiece of a vocab.txt has two ways to read a text; a tokenizer.json has its own.
// A folder that asks for another one is refused by the name of its setting, since its model would
// get other tokens than those of its training.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// kLower: all letters become lower case and lose their accents. kKept: a text stays as it is.
enum class LetterCase { kLower, kKept };

// The contents of the files that may stand in a tokenizer's folder; empty where there is none.
struct TokenizerFiles {
  std::string tokenizer_config;      // tokenizer_config.json
  absl::string_view tokenizer;       // tokenizer.json; of the caller
  std::string sentence_bert_config;  // sentence_bert_config.json
};

// Of a vocab.txt: `do_lower_case` of tokenizer_config.json, else `lowercase` of the normalizer in
// tokenizer.json, else kLower. INVALID_ARGUMENT names the file and the setting: no JSON object, a
// value of another type, a normalizer that is no BertNormalizer, accents that are not stripped
// exactly where letters become lower case, ideographs that are no words of their own, or a
// sentence_bert_config.json that wants lower case for a cased vocabulary. Pure, thread-safe.
absl::StatusOr<LetterCase> LetterCaseOf(const TokenizerFiles& files);

// Of a tokenizer.json: INVALID_ARGUMENT names a setting beside it that transformers would put above
// the BertNormalizer in it (case, accents, ideographs) and that says otherwise, or a
// sentence_bert_config.json that wants lower case where no step makes it. Pure, thread-safe.
absl::Status CheckSettings(const TokenizerFiles& files);

// The same of the files in the folder of the vocab.txt or tokenizer.json at `path`. The settings
// have at most 4 MiB each, a tokenizer.json 64 MiB; what is there and no file is refused. Blocks
// for the reading. Thread-safe.
absl::StatusOr<LetterCase> ReadLetterCase(const std::string& path);
absl::Status CheckSettingsBeside(const std::string& path, const std::string& tokenizer);

}  // namespace mpsd
