#include "server/config/tokenizer_stamp.h"

#include <string>

#include "gtest/gtest.h"
#include "server/request/tokenizer_files.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

class TokenizerStamp : public testing::Test {
 protected:
  FileStamp Stamp() const { return StampOfTokenizer(vocabulary_); }

  const WorkFolder work_;
  const std::string vocabulary_ = work_.Write("vocab.txt", "a");
};

TEST_F(TokenizerStamp, IsAnotherOneOnceASettingBesideItChanges) {
  for (const std::string_view name : kTokenizerSettings) {
    const FileStamp before = Stamp();
    work_.Write(std::string(name), "{}");
    const FileStamp there = Stamp();
    EXPECT_NE(there, before) << name << " came";
    work_.Write(std::string(name), R"({"a": 1})");
    EXPECT_NE(Stamp(), there) << name << " changed";
  }
}

TEST_F(TokenizerStamp, IsAnotherOneOnceTheVocabularyChanges) {
  const FileStamp before = Stamp();
  work_.Write("vocab.txt", "a b");
  EXPECT_NE(Stamp(), before);
}

TEST_F(TokenizerStamp, OtherFilesOfTheFolderDoNotCount) {
  const FileStamp before = Stamp();
  work_.Write("mpsd.json", "{}");
  EXPECT_EQ(Stamp(), before);
}

TEST_F(TokenizerStamp, OfWhatIsNotThereIsNone) {
  EXPECT_EQ(StampOfTokenizer(work_.PathOf("none/vocab.txt")), FileStamp());
}

}  // namespace
}  // namespace mpsd
