#include "proto/text/vocabulary.h"

#include <utility>

#include "proto/base/whole_file.h"

namespace mpsd {

absl::StatusOr<Vocabulary> ReadVocabulary(const std::string& path) {
  absl::StatusOr<std::string> words = ReadWholeFile(path, kMaxVocabularyBytes);
  if (!words.ok()) return words.status();
  const absl::StatusOr<LetterCase> letter_case = ReadLetterCase(path);
  if (!letter_case.ok()) return letter_case.status();
  const uint64_t fingerprint = VocabularyFingerprint(*words);
  return Vocabulary{*std::move(words), *letter_case, fingerprint};
}

uint64_t VocabularyFingerprint(absl::string_view words) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : words) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace mpsd
