#include "server/access/token_edit.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "server/access/token_file.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr char kText[] =
    "# who\n"
    "ab 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n"
    "\n"
    "abc  2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\n";

class TokenEditTest : public testing::Test {
 protected:
  std::string Read(const std::string& path) const { return work_.Read(path); }
  static absl::Status Add(const std::string& path, const std::string& name) {
    return EditTokenFile(path, [&](absl::string_view text) { return WithToken(text, name, name); });
  }
  size_t FileCount() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const WorkFolder work_;
  const std::string folder_ = work_.path();
  const std::string path_ = folder_ + "/tokens";
};

TEST(TokenText, GetsALineAndLosesIt) {
  const std::string longer = WithToken(kText, "new", "secret").value();
  EXPECT_THAT(longer, testing::StartsWith(kText));
  EXPECT_THAT(longer, Not(HasSubstr("secret")));
  ASSERT_TRUE(ParseTokens(longer).ok());
  EXPECT_EQ(ParseTokens(longer)->back().digest, *Sha256("secret"));
  EXPECT_EQ(*WithoutToken(longer, "new"), kText);
  EXPECT_THAT(*WithoutToken(kText, "ab"), testing::StartsWith("# who\n\nabc "));
}

TEST(TokenText, WithoutALineBreakAtItsEndGetsOne) {
  const std::string text = "a " + std::string(64, '1');
  EXPECT_THAT(*WithToken(text, "b", "x"), testing::StartsWith(text + "\nb "));
}

TEST(TokenText, RefusesNamesThatCannotBe) {
  EXPECT_EQ(WithToken(kText, "ab", "x").status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(WithToken(kText, "a b", "x").status().message(),
            "the name 'a b' of a token has a blank");
  for (const char* name : {"", "a b", "a\nb", "#a", "ä"}) {
    EXPECT_EQ(WithToken(kText, name, "x").status().code(), absl::StatusCode::kInvalidArgument)
        << name;
  }
  for (const char* name : {"a", "", "#", "# who"}) {
    EXPECT_EQ(WithoutToken(kText, name).status().code(), absl::StatusCode::kNotFound) << name;
  }
}

TEST(NewTokens, HaveManyDigitsAndDiffer) {
  const std::string one = NewToken().value();
  EXPECT_THAT(one, testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(one.size(), 64U);
  EXPECT_NE(one, *NewToken());
}

TEST_F(TokenEditTest, AFileThatIsNotThereIsMadeForItsOwnerAlone) {
  ASSERT_TRUE(Add(path_, "a").ok());
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_EQ(ReadTokenFile(path_)->size(), 1U);
  EXPECT_EQ(FileCount(), 1U);
}

TEST_F(TokenEditTest, AnEditThatFailsLeavesTheFileAsItWas) {
  ASSERT_TRUE(Add(path_, "a").ok());
  const std::string before = Read(path_);
  EXPECT_EQ(Add(path_, "a").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Read(path_), before);
  EXPECT_EQ(FileCount(), 1U);
}

TEST_F(TokenEditTest, AFileThatOthersCanReadIsRefused) {
  std::ofstream(path_) << kText;
  fs::permissions(path_, fs::perms(0644));
  EXPECT_EQ(Add(path_, "c").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Read(path_), kText);
}

TEST_F(TokenEditTest, AReaderKeepsTheOldFileAndALinkItsPlace) {
  ASSERT_TRUE(Add(path_, "a").ok());
  const std::string before = Read(path_);
  std::ifstream reader(path_);
  fs::create_symlink("tokens", folder_ + "/link");
  ASSERT_TRUE(Add(folder_ + "/link", "b").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link"));
  EXPECT_EQ(ReadTokenFile(path_)->size(), 2U);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), before);
}

TEST_F(TokenEditTest, EditsAtOneTimeAllCount) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 8; ++j) {
        EXPECT_TRUE(Add(path_, std::to_string(i * 8 + j)).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ReadTokenFile(path_)->size(), 64U);
}

TEST_F(TokenEditTest, AFolderThatIsNotThereIsNamed) {
  const absl::Status status = Add(folder_ + "/none/tokens", "a");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("none/tokens"));
}

}  // namespace
}  // namespace mpsd
