// letter_case: whether a tokenizer tells upper from lower case, by the files beside it.
//
// Hugging Face tools save a tokenizer's settings beside it, and follow the settings if the two
// disagree. WordPiece of a vocab.txt can read a text in two ways; a tokenizer.json says its own. If
// a folder asks for another way, it is refused by the name of the setting: its model would get
// other tokens than in its training.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// kLower: all letters become lower case and lose their accents. kKept: the text stays as it is.
enum class LetterCase { kLower, kKept };

// Contents of the files that may lie in a tokenizer's folder; empty if missing.
struct TokenizerFiles {
  std::string tokenizer_config;      // tokenizer_config.json
  absl::string_view tokenizer;       // tokenizer.json; the caller's
  std::string sentence_bert_config;  // sentence_bert_config.json
};

// For a vocab.txt: `do_lower_case` of tokenizer_config.json, else `lowercase` of the normalizer in
// tokenizer.json, else kLower. INVALID_ARGUMENT names the file and the setting. It is returned for
// a file that is no JSON object, a value of another type, or a normalizer that is no
// BertNormalizer. The same if accents are not stripped exactly where letters become lower case, or
// if ideographs are no words of their own. The same if sentence_bert_config.json wants lower case
// for a cased vocabulary. Pure, thread-safe.
absl::StatusOr<LetterCase> LetterCaseOf(const TokenizerFiles& files);

// For a tokenizer.json: INVALID_ARGUMENT names a setting beside it that contradicts its
// BertNormalizer (case, accents, ideographs), if transformers would prefer the setting. The same
// for a sentence_bert_config.json that wants lower case if no step makes it. Pure, thread-safe.
absl::Status CheckSettings(const TokenizerFiles& files);

// The same for the files in the folder of the vocab.txt or tokenizer.json at `path`. Settings have
// at most 4 MiB each, a tokenizer.json 64 MiB, and all are regular files. Blocks for the reading.
// Thread-safe.
absl::StatusOr<LetterCase> ReadLetterCase(const std::string& path);
absl::Status CheckSettingsBeside(const std::string& path, const std::string& tokenizer);

}  // namespace mpsd
