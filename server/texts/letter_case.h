// letter_case: whether a tokenizer tells upper from lower case, by the files beside it.
//
// Hugging Face tools save settings beside a tokenizer, and prefer them. WordPiece of a vocab.txt
// can read a text in two ways; a tokenizer.json says its own. Any other way is refused by the
// setting's name: the model would get other tokens than in its training.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// kLower: letters become lower case and lose their accents.
enum class LetterCase { kLower, kKept };

// Empty if missing.
struct TokenizerFiles {
  std::string tokenizer_config;
  absl::string_view tokenizer;  // the caller's tokenizer.json
  std::string sentence_bert_config;
};

// For a vocab.txt: `do_lower_case` of tokenizer_config.json, else `lowercase` of tokenizer.json's
// normalizer, else kLower. INVALID_ARGUMENT names file and setting: no JSON object, another type, a
// normalizer that is no BertNormalizer. Accents must be stripped exactly where letters become lower
// case, and ideographs be words. sentence_bert_config.json may not want lower case for a cased
// vocabulary. Pure.
absl::StatusOr<LetterCase> LetterCaseOf(const TokenizerFiles& files);

// For a tokenizer.json: INVALID_ARGUMENT names a setting beside it that contradicts its
// BertNormalizer, if transformers would prefer the setting. Also for a sentence_bert_config.json
// that wants lower case if no step makes it. Pure.
absl::Status CheckSettings(const TokenizerFiles& files);

// For the folder of the vocab.txt or tokenizer.json at `path`. Settings have at most 4 MiB each, a
// tokenizer.json 64 MiB, all as regular files. Blocks for the reading. Thread-safe.
absl::StatusOr<LetterCase> ReadLetterCase(const std::string& path);
absl::Status CheckSettingsBeside(const std::string& path, const std::string& tokenizer);

}  // namespace mpsd
