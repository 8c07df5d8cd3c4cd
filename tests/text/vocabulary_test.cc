#include "proto/text/vocabulary.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "proto/base/whole_file.h"

namespace mpsd {
namespace {

std::string Written(const std::string& name, absl::string_view content) {
  const std::string path = testing::TempDir() + name;
  EXPECT_TRUE(WriteWholeFile(path, content).ok());
  return path;
}

TEST(Vocabulary, HasTheWordsOfTheFileAndTheCaseOfTheFilesBesideIt) {
  Written("tokenizer_config.json", R"({"do_lower_case": false})");
  const auto vocabulary = ReadVocabulary(Written("vocab.txt", "[PAD]\nhello\n"));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ(vocabulary->words, "[PAD]\nhello\n");
  EXPECT_EQ(vocabulary->letter_case, LetterCase::kKept);
  EXPECT_EQ(vocabulary->fingerprint, VocabularyFingerprint("[PAD]\nhello\n"));
  EXPECT_NE(vocabulary->fingerprint, VocabularyFingerprint("[PAD]\nhellp\n"));
}

TEST(Vocabulary, NamesAFileThatIsNotThere) {
  const absl::Status status = ReadVocabulary(testing::TempDir() + "no_such_vocab.txt").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(status.message(), "no_such_vocab.txt")) << status;
}

TEST(Vocabulary, RefusesAFileThatIsTooLarge) {
  const std::string path = Written("large.txt", std::string(kMaxVocabularyBytes + 1, 'x'));
  EXPECT_EQ(ReadVocabulary(path).status().code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace mpsd
