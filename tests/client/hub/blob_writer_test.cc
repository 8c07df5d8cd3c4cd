#include "client/hub/blob_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "proto/base/fd.h"

namespace mpsd::hub {
namespace {

// From `printf abcabcabc | sha256sum` and `printf abcabcabc | git hash-object --stdin`.
constexpr char kSha256[] = "76b99ab4be8521d78b19bcff7d1078aabeb477bd134f404094c92cd39f051c3e";
constexpr char kGitId[] = "f7ef865dec9844f5b2e9690511edd35b133b2286";

class BlobWriterTest : public testing::Test {
 protected:
  ~BlobWriterTest() override { unlink(path_.c_str()); }

  UniqueFd Open(int flags) const {
    return UniqueFd(open(path_.c_str(), flags | O_CREAT | O_CLOEXEC, 0600));
  }
  std::string Content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  const std::string path_ = testing::TempDir() + "mpsd_blob_" + std::to_string(getpid());
  PiecePool pool_;
};

TEST_F(BlobWriterTest, WritesTheRestOfAFileAndHashesAllOfIt) {
  std::ofstream(path_) << "abca";
  for (const std::string id : {kSha256, kGitId}) {
    const UniqueFd fd = Open(O_RDWR);
    BlobWriter writer(fd.get(), 4, id, 9, &pool_);
    EXPECT_TRUE(writer.Add("bc").ok());
    EXPECT_TRUE(writer.Add("abc").ok());
    EXPECT_EQ(writer.Finish().value(), id);
    EXPECT_EQ(Content(), "abcabcabc");
  }
}

TEST_F(BlobWriterTest, MorePiecesThanMayWait) {
  const UniqueFd fd = Open(O_RDWR);
  std::string all;
  BlobWriter writer(fd.get(), 0, kSha256, 0, &pool_);
  for (int i = 0; i < 40; ++i) {
    std::string piece = pool_.Get();
    piece.assign(kPieceBytes, static_cast<char>('a' + i % 26));
    all += piece;
    ASSERT_TRUE(writer.Add(std::move(piece)).ok());
  }
  ContentHash hash(kSha256, 0);
  hash.Add(all);
  EXPECT_EQ(writer.Finish().value(), hash.Finish());
  EXPECT_TRUE(Content() == all);
}

TEST_F(BlobWriterTest, SaysWhatItCannotWriteOrRead) {
  const UniqueFd read_only = Open(O_RDONLY);
  BlobWriter writer(read_only.get(), 0, kSha256, 9, &pool_);
  EXPECT_TRUE(absl::IsDataLoss(writer.Add("abc")));
  const UniqueFd fd = Open(O_RDWR);
  BlobWriter of_missing_bytes(fd.get(), 4, kSha256, 9, &pool_);
  EXPECT_TRUE(absl::IsDataLoss(of_missing_bytes.Finish().status()));
}

TEST_F(BlobWriterTest, MemoryOfAPieceIsForTheNext) {
  std::string piece = pool_.Get();
  EXPECT_GE(piece.capacity(), kPieceBytes);
  piece = "abc";
  piece.reserve(3 * kPieceBytes);  // as no fresh one
  const UniqueFd fd = Open(O_RDWR);
  BlobWriter writer(fd.get(), 0, kSha256, 9, &pool_);
  ASSERT_TRUE(writer.Add(std::move(piece)).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const std::string next = pool_.Get();
  EXPECT_GE(next.capacity(), 3 * kPieceBytes);
  EXPECT_TRUE(next.empty());
}

}  // namespace
}  // namespace mpsd::hub
