#include "server/bodies/inflate/inflated_body.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "server/bodies/inflate/deflate.h"
#include "server/request/retry_info.h"
#include "tests/server/bodies/inflate/compressed.h"

namespace mpsd {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;
constexpr char kSender[] = "ipv4:127.0.0.1:1";

// Some of it repeats and some does not.
std::string Text(size_t bytes) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < bytes) {
    text.append(random() % 64, static_cast<char>(random()));
    text.push_back(static_cast<char>(random()));
  }
  text.resize(bytes);
  return text;
}

class InflatedBodyTest : public testing::TestWithParam<CompressedForm> {
 protected:
  std::string Compress(const std::string& text) { return Compressed(text, GetParam()); }
  absl::Status Inflate(const std::string& bytes) {
    return body_.Inflate(GetParam(), bytes, kSender);
  }

  // The text of the refusal, whose code is `code`.
  std::string Refusal(const std::string& bytes, absl::StatusCode code) {
    const absl::Status status = Inflate(bytes);
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(held_.taken_bytes(), 0U);
    EXPECT_EQ(body_.Take(), "");
    return std::string(status.message());
  }
  void ExpectUnreadable(const std::string& bytes, const std::string& why) {
    const std::string format = GetParam() == CompressedForm::kGzip ? "gzip" : "deflate";
    EXPECT_EQ(Refusal(bytes, absl::StatusCode::kInvalidArgument),
              "the message cannot be inflated as " + format + ": " + why);
  }

  HeldBytes held_{2 * kMostBytes, kMostBytes};
  InflatedBody body_{{kMostBytes, &held_}};
};

INSTANTIATE_TEST_SUITE_P(Formats, InflatedBodyTest,
                         testing::Values(CompressedForm::kGzip, CompressedForm::kDeflate));

TEST_P(InflatedBodyTest, MessagesOfAllSizesComeOutAsTheyWentIn) {
  for (const size_t bytes :
       {0U, 1U, 1023U, 1024U, 1025U, 16383U, 16384U, 16385U, 49152U, 300'000U, 1U << 20}) {
    const std::string text = Text(bytes);
    const absl::Status status = Inflate(Compress(text));
    ASSERT_TRUE(status.ok()) << bytes << ": " << status;
    EXPECT_EQ(held_.taken_bytes(), bytes);
    const std::string plain = body_.Take();
    EXPECT_TRUE(plain == text) << bytes;
    EXPECT_GE(plain.capacity() - plain.size(), InflatedBody::kPaddingBytes);
  }
}

TEST_P(InflatedBodyTest, WhatWeCompressComesOutAsItWentIn) {
  for (const size_t size : {100U, 1000U, 300'000U}) {
    const std::string text(size, 'a');
    std::string bytes = "before";
    ASSERT_TRUE(Deflate(GetParam(), text, &bytes));
    EXPECT_LT(bytes.size(), size);
    ASSERT_TRUE(Inflate(bytes.substr(6)).ok());
    EXPECT_EQ(body_.Take(), text);
  }
}

TEST_P(InflatedBodyTest, WhatBecomesNoShorterStaysPlain) {
  std::mt19937 random(7);
  std::string text(1000, '\0');
  for (char& c : text) c = static_cast<char>(random());
  for (const std::string& plain : {std::string(), std::string("a"), text}) {
    std::string bytes = "before";
    EXPECT_FALSE(Deflate(GetParam(), plain, &bytes));
    EXPECT_EQ(bytes, "before");
  }
}

TEST_P(InflatedBodyTest, TheBytesCountUntilTheyAreDropped) {
  ASSERT_TRUE(Inflate(Compress(Text(5000))).ok());
  const std::string plain = body_.Take();
  EXPECT_EQ(held_.taken_bytes(), 5000U);
  body_.Drop();
  EXPECT_EQ(held_.taken_bytes(), 0U);
  body_.Drop();
}

TEST_P(InflatedBodyTest, OneByteTooManyIsRefusedAsGrpcRefusesIt) {
  for (const uint64_t limit : {1000U, 16384U, 40000U, 49152U}) {
    HeldBytes held(limit, limit);
    InflatedBody body({limit, &held});
    ASSERT_TRUE(body.Inflate(GetParam(), Compress(Text(limit)), kSender).ok()) << limit;
    EXPECT_EQ(body.Take().size(), limit);
    const absl::Status status = body.Inflate(GetParam(), Compress(Text(limit + 1)), kSender);
    EXPECT_EQ(status, absl::ResourceExhaustedError("Received message larger than max (" +
                                                   std::to_string(limit + 1) + " vs. " +
                                                   std::to_string(limit) + ")"))
        << "without a time to retry, since it never passes";
    EXPECT_EQ(held.taken_bytes(), 0U);
  }
}

// Were a byte more taken than a message may have, the ledger would refuse it first.
TEST_P(InflatedBodyTest, ABombEndsAtTheBound) {
  HeldBytes held(kMostBytes, kMostBytes);
  InflatedBody body({kMostBytes, &held});
  const std::string bomb = Compress(std::string(32 << 20, '\0'));
  EXPECT_LT(bomb.size(), kMostBytes);
  EXPECT_EQ(body.Inflate(GetParam(), bomb, kSender),
            absl::ResourceExhaustedError("Received message larger than max (1048577 vs. 1048576)"));
  EXPECT_EQ(held.taken_bytes(), 0U);
}

TEST_P(InflatedBodyTest, AMessageCutAnywhereIsRefused) {
  const std::string bytes = Compress(Text(300));
  for (size_t size = 0; size < bytes.size(); ++size) {
    ExpectUnreadable(bytes.substr(0, size), "it ends too early");
  }
  const std::string large = Compress(Text(300'000));
  ExpectUnreadable(large.substr(0, large.size() / 2), "it ends too early");
}

TEST_P(InflatedBodyTest, WhatFollowsTheEndIsRefused) {
  const std::string bytes = Compress("text");
  ExpectUnreadable(bytes + "x", "bytes follow its end");
  ExpectUnreadable(bytes + bytes, "bytes follow its end");
}

TEST_P(InflatedBodyTest, NoChangedByteGoesUnseen) {
  const std::string bytes = Compress(Text(300));
  // The time, the flags and the system in gzip's header mean nothing.
  for (size_t at = GetParam() == CompressedForm::kGzip ? 10 : 2; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    SCOPED_TRACE(at);
    Refusal(changed, absl::StatusCode::kInvalidArgument);
  }
}

TEST_P(InflatedBodyTest, TheOtherFormatIsRefused) {
  const auto other =
      GetParam() == CompressedForm::kGzip ? CompressedForm::kDeflate : CompressedForm::kGzip;
  ExpectUnreadable(Compressed("text", other), "incorrect header check");
  ExpectUnreadable("text", "incorrect header check");
}

TEST(InflatedBody, ADictionaryThatNobodyHasIsRefused) {
  HeldBytes held(kMostBytes, kMostBytes);
  InflatedBody body({kMostBytes, &held});
  const std::string needs_one = {0x78, static_cast<char>(0xbb), 0, 0, 0, 1, 0, 0};
  EXPECT_EQ(body.Inflate(CompressedForm::kDeflate, needs_one, kSender),
            absl::InvalidArgumentError(
                "the message cannot be inflated as deflate: it needs a dictionary"));
  EXPECT_EQ(held.taken_bytes(), 0U);
}

TEST_P(InflatedBodyTest, LackOfRoomPasses) {
  const std::string bytes = Compress(Text(kMostBytes));
  ASSERT_TRUE(Inflate(bytes).ok());
  InflatedBody other({kMostBytes, &held_});
  const absl::Status status = other.Inflate(GetParam(), bytes, kSender);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "too many compressed messages are being inflated");
  EXPECT_TRUE(RetryAfterNs(status).has_value()) << status;
  EXPECT_EQ(held_.taken_bytes(), kMostBytes) << "one client leaves half to others";
  EXPECT_TRUE(other.Inflate(GetParam(), bytes, "another").ok());
  InflatedBody third({kMostBytes, &held_});
  EXPECT_EQ(third.Inflate(GetParam(), bytes, "a third").code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(held_.taken_bytes(), 2 * kMostBytes) << "all together are bounded";
  other.Drop();
  EXPECT_TRUE(third.Inflate(GetParam(), bytes, "a third").ok());
}

}  // namespace
}  // namespace mpsd
