#include "server/inflate/inflated_body.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "server/request/retry_info.h"
#include "tests/server/inflate/compressed.h"

namespace mpsd {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;
constexpr char kSender[] = "ipv4:127.0.0.1:1";

std::string Noise(size_t bytes) {
  std::mt19937 random(5);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random() % 16);
  return text;
}

std::string Gzip(const std::string& text) { return Compressed(text, GRPC_COMPRESS_GZIP); }

class InflatedBodyTest : public testing::Test {
 protected:
  absl::Status Inflate(const std::string& bytes, absl::string_view client = kSender) {
    return body_.Inflate(CompressedForm::kGzip, bytes, client);
  }

  HeldBytes held_{2 * kMostBytes, kMostBytes};
  InflatedBody body_{{kMostBytes, &held_}};
};

TEST_F(InflatedBodyTest, MessagesOfAllSizesComeOutAsTheyWentIn) {
  for (const size_t bytes : {0U, 1U, 1023U, 1024U, 1025U, 16384U, 300'000U, 1U << 20}) {
    const std::string text = Noise(bytes);
    const absl::Status status = Inflate(Gzip(text));
    ASSERT_TRUE(status.ok()) << bytes << ": " << status;
    EXPECT_EQ(held_.taken_bytes(), bytes);
    const std::string plain = body_.Take();
    EXPECT_TRUE(plain == text) << bytes;
    EXPECT_GE(plain.capacity() - plain.size(), InflatedBody::kPaddingBytes);
  }
}

TEST_F(InflatedBodyTest, BothFormatsAreReadAndNotTakenForEachOther) {
  const std::string zlib = Compressed("text", GRPC_COMPRESS_DEFLATE);
  ASSERT_TRUE(body_.Inflate(CompressedForm::kDeflate, zlib, kSender).ok());
  EXPECT_EQ(body_.Take(), "text");
  EXPECT_EQ(Inflate(zlib).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(InflatedBodyTest, TheBytesCountUntilTheyAreDropped) {
  ASSERT_TRUE(Inflate(Gzip(Noise(5000))).ok());
  const std::string plain = body_.Take();
  EXPECT_EQ(held_.taken_bytes(), 5000U);
  body_.Drop();
  EXPECT_EQ(held_.taken_bytes(), 0U);
  body_.Drop();
}

TEST_F(InflatedBodyTest, ABombEndsAtTheBound) {
  const absl::Status status = Inflate(Gzip(std::string(32 << 20, '\0')));
  EXPECT_EQ(status.message(), "Received message larger than max (1048577 vs. 1048576)");
  EXPECT_FALSE(RetryAfterNs(status).has_value()) << "it never passes";
  EXPECT_EQ(held_.taken_bytes(), 0U);
}

TEST_F(InflatedBodyTest, LackOfRoomPasses) {
  const std::string bytes = Gzip(Noise(kMostBytes));
  ASSERT_TRUE(Inflate(bytes).ok());
  InflatedBody other({kMostBytes, &held_});
  const absl::Status status = other.Inflate(CompressedForm::kGzip, bytes, kSender);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(RetryAfterNs(status).has_value()) << status;
  EXPECT_EQ(held_.taken_bytes(), kMostBytes);
  EXPECT_TRUE(other.Inflate(CompressedForm::kGzip, bytes, "another").ok());
}

TEST_F(InflatedBodyTest, AMessageThatIsCutHoldsNothing) {
  const std::string bytes = Gzip(Noise(300'000));
  EXPECT_EQ(Inflate(bytes.substr(0, bytes.size() / 2)).message(),
            "the message cannot be inflated as gzip: it ends too early");
  EXPECT_EQ(held_.taken_bytes(), 0U);
}

}  // namespace
}  // namespace mpsd
