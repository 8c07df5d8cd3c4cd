#include "server/config/tokenizer_stamp.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "server/request/tokenizer_files.h"

namespace mpsd {
namespace {

class TokenizerStamp : public testing::Test {
 protected:
  TokenizerStamp() {
    std::filesystem::create_directory(folder_);
    Write("vocab.txt", "a");
  }
  ~TokenizerStamp() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + "/" + name, std::ios::trunc) << content;
  }
  FileStamp Stamp() const { return StampOfTokenizer(folder_ + "/vocab.txt"); }

  const std::string folder_ = testing::TempDir() + "/tokenizer_stamp." + std::to_string(getpid());
};

TEST_F(TokenizerStamp, IsAnotherOneOnceASettingBesideItChanges) {
  for (const std::string_view name : kTokenizerSettings) {
    const FileStamp before = Stamp();
    Write(std::string(name), "{}");
    const FileStamp there = Stamp();
    EXPECT_NE(there, before) << name << " came";
    Write(std::string(name), R"({"a": 1})");
    EXPECT_NE(Stamp(), there) << name << " changed";
  }
}

TEST_F(TokenizerStamp, IsAnotherOneOnceTheVocabularyChanges) {
  const FileStamp before = Stamp();
  Write("vocab.txt", "a b");
  EXPECT_NE(Stamp(), before);
}

TEST_F(TokenizerStamp, OtherFilesOfTheFolderDoNotCount) {
  const FileStamp before = Stamp();
  Write("mpsd.json", "{}");
  EXPECT_EQ(Stamp(), before);
}

TEST_F(TokenizerStamp, OfWhatIsNotThereIsNone) {
  EXPECT_EQ(StampOfTokenizer(folder_ + "/none/vocab.txt"), FileStamp());
}

}  // namespace
}  // namespace mpsd
