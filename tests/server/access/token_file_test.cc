#include "server/access/token_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::string Fault(absl::string_view text) {
  return std::string(ParseTokens(text).status().message());
}

TEST(TokenFile, HoldsATokenALine) {
  const auto tokens = ParseTokens(absl::StrCat("# who\n\n  embedder \t ", kAbc, "  \r\nops.1 ",
                                               std::string(64, 'A'), "\n"))
                          .value();
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0].name, "embedder");
  EXPECT_EQ(tokens[0].digest, Sha256("abc").value());
  EXPECT_EQ(tokens[1].name, "ops.1");
  EXPECT_EQ(tokens[1].digest[31], 0xaa);
  EXPECT_TRUE(ParseTokens("")->empty());
}

TEST(TokenFile, EachMistakeHasItsLine) {
  const std::string good = absl::StrCat("a ", kAbc, "\n");
  EXPECT_EQ(Fault("\nabc"), "line 2: must be a name and a SHA-256, with a blank between");
  EXPECT_EQ(Fault(absl::StrCat("a ", kAbc, " b")),
            "line 1: must be a name and a SHA-256, with a blank between");
  EXPECT_EQ(Fault(absl::StrCat("a/b ", kAbc)),
            "line 1: the name may have letters, digits, '.', '_', '-'");
  EXPECT_EQ(Fault(absl::StrCat(std::string(129, 'a'), " ", kAbc)),
            "line 1: the name may have letters, digits, '.', '_', '-'");
  EXPECT_EQ(Fault("a abcd"), "line 1: the SHA-256 must be 64 hex digits");
  EXPECT_EQ(Fault("a " + std::string(64, 'g')), "line 1: the SHA-256 must be 64 hex digits");
  EXPECT_EQ(Fault(good + "a " + std::string(64, 'b')), "line 2: this name stands twice");
  EXPECT_EQ(Fault(good + "b " + kAbc), "line 2: this SHA-256 stands twice");
}

TEST(TokenFile, HoldsSoManyAndNoMore) {
  std::string text;
  for (size_t i = 0; i < kMaxAccessTokens; ++i) {
    absl::StrAppend(&text, "t", i, " ", absl::Hex(i, absl::kZeroPad16), std::string(48, '0'), "\n");
  }
  EXPECT_EQ(ParseTokens(text)->size(), kMaxAccessTokens);
  EXPECT_EQ(Fault(absl::StrCat(text, "t ", kAbc)), "line 257: there may be 256 tokens at most");
}

class TokenFileOnDisk : public testing::Test {
 protected:
  void Write(const std::string& text, mode_t mode) {
    work_.Write(path_, text);
    chmod(path_.c_str(), mode);
  }

  std::string Fault() { return std::string(ReadTokenFile(path_).status().message()); }

  const WorkFolder work_;
  const std::string path_ = work_.PathOf("tokens");
};

TEST_F(TokenFileOnDisk, IsReadWhenNobodyElseCan) {
  for (const mode_t mode : {0600, 0400}) {
    Write(absl::StrCat("a ", kAbc), mode);
    ASSERT_TRUE(ReadTokenFile(path_).ok()) << Fault();
    EXPECT_EQ(ReadTokenFile(path_)->size(), 1U);
  }
}

TEST_F(TokenFileOnDisk, IsRefusedWhenOthersCan) {
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0644}) {
    Write(absl::StrCat("a ", kAbc), mode);
    EXPECT_TRUE(absl::IsPermissionDenied(ReadTokenFile(path_).status())) << mode;
  }
  EXPECT_EQ(Fault(), absl::StrCat("'", path_,
                                  "' has the mode 0644, which lets others at it; it must be 0600"));
}

TEST_F(TokenFileOnDisk, IsRefusedWhenItBelongsToAnotherUser) {
  Write(absl::StrCat("a ", kAbc), 0600);
  if (chown(path_.c_str(), 65534, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root may give a file away";
  }
  EXPECT_EQ(ReadTokenFile(path_).status(),
            absl::PermissionDeniedError(absl::StrCat("'", path_, "' belongs to another user")));
}

TEST_F(TokenFileOnDisk, MustBeAFile) {
  EXPECT_TRUE(absl::IsNotFound(ReadTokenFile(path_).status()));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(Fault(), absl::StrCat("'", path_, "' is no file"));
}

TEST_F(TokenFileOnDisk, AMistakeNamesTheFile) {
  Write("x", 0600);
  EXPECT_EQ(Fault(), absl::StrCat("'", path_,
                                  "' line 1: must be a name and a SHA-256, with a "
                                  "blank between"));
  Write(std::string(256 << 10, '\n'), 0600);
  EXPECT_TRUE(ReadTokenFile(path_).ok()) << Fault();
  Write(std::string((256 << 10) + 1, '\n'), 0600);
  EXPECT_EQ(Fault(), absl::StrCat("'", path_, "' is larger than 262144 bytes"));
}

TEST_F(TokenFileOnDisk, AKeyMayBeItsGroupsToRead) {
  EXPECT_EQ(SecretFileFault(path_, 0007), "");
  Write("", 0640);
  EXPECT_EQ(SecretFileFault(path_, 0007), "");
  Write("", 0644);
  EXPECT_TRUE(absl::StrContains(SecretFileFault(path_, 0007), "mode 0644"));
}

}  // namespace
}  // namespace mpsd
