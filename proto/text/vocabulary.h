// Vocabulary: the words of a text encoder, and the case of letters that they are written in.
//
// A model's parameter `vocab` names a vocab.txt on the server's host. The front end reads the file
// when it makes a generation of the model, and gives its contents to clients that may infer
// (server/control/text_methods.h). `mpsd infer --text` splits texts by them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/text/letter_case.h"

namespace mpsd {

inline constexpr uint64_t kMaxVocabularyBytes = 16 << 20;  // a larger vocab.txt is refused

// A value.
struct Vocabulary {
  std::string words;  // a word in each line; a word's number is that of its line, from 0
  LetterCase letter_case = LetterCase::kLower;
  uint64_t fingerprint = 0;  // of the words: the same on every host
};

// Reads a vocab.txt and the files beside it. Errors name the path, and are those of ReadWholeFile()
// and ReadLetterCase(). Blocks for the reading. Thread-safe.
absl::StatusOr<Vocabulary> ReadVocabulary(const std::string& path);

// The fingerprint of these words: FNV-1a, of 64 bits. Pure.
uint64_t VocabularyFingerprint(absl::string_view words);

}  // namespace mpsd
