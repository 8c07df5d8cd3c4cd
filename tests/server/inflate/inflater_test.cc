#include "server/inflate/inflater.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "server/request/retry_info.h"
#include "tests/server/inflate/compressed.h"
#include "tests/server/wire/slices.h"

namespace mpsd {
namespace {

constexpr uint64_t kMessageBytes = 1 << 20;
constexpr uint64_t kHeldBytes = 4 << 20;
constexpr char kClient[] = "ipv4:127.0.0.1:1";

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

grpc::ByteBuffer Marked(grpc::ByteBuffer buffer, grpc_compression_algorithm algorithm) {
  EncodingMark(&buffer, algorithm);
  return buffer;
}

grpc::ByteBuffer Arrived(const std::string& bytes, grpc_compression_algorithm algorithm) {
  return Marked(InOneSlice(bytes), algorithm);
}

// The text of the refusal, whose code is `code`.
std::string Refusal(Inflater* inflater, grpc::ByteBuffer message, absl::StatusCode code) {
  const absl::Status status = inflater->Inflate(&message, kClient);
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(inflater->held_bytes(), 0U);
  return std::string(status.message());
}

class InflaterTest : public testing::TestWithParam<grpc_compression_algorithm> {
 protected:
  std::string Compress(const std::string& text) { return Compressed(text, GetParam()); }
  std::string Refused(const std::string& bytes) {
    return Refusal(&inflater_, Arrived(bytes, GetParam()), absl::StatusCode::kInvalidArgument);
  }
  std::string Unreadable(const std::string& why) {
    const std::string format = GetParam() == GRPC_COMPRESS_GZIP ? "gzip" : "deflate";
    return "the message cannot be inflated as " + format + ": " + why;
  }

  Inflater inflater_{kMessageBytes, kHeldBytes};
};

INSTANTIATE_TEST_SUITE_P(Formats, InflaterTest,
                         testing::Values(GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP));

TEST_P(InflaterTest, MessagesOfAllSizesComeOutAsTheyWentIn) {
  for (const size_t bytes : {1U, 2U, 1000U, 16383U, 16384U, 16385U, 49152U, 500'000U, 1U << 20}) {
    const std::string text = Text(bytes);
    grpc::ByteBuffer message = Arrived(Compress(text), GetParam());
    const absl::Status status = inflater_.Inflate(&message, kClient);
    ASSERT_TRUE(status.ok()) << bytes << ": " << status;
    EXPECT_TRUE(AllBytes(message) == text) << bytes;
  }
}

TEST_P(InflaterTest, ItDoesNotMatterWhereTheTransportCuts) {
  const std::string text = Text(300);
  const std::string bytes = Compress(text);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::vector<grpc::Slice> slices = {grpc::Slice(bytes.substr(0, cut)),
                                             grpc::Slice(bytes.substr(cut))};
    grpc::ByteBuffer message = Marked(grpc::ByteBuffer(slices.data(), slices.size()), GetParam());
    ASSERT_TRUE(inflater_.Inflate(&message, kClient).ok()) << cut;
    EXPECT_EQ(AllBytes(message), text) << cut;
  }
  std::mt19937 random(3);
  const std::string large = Text(200'000);
  grpc::ByteBuffer message = Marked(InSlices(Compress(large), 3, &random), GetParam());
  ASSERT_TRUE(inflater_.Inflate(&message, kClient).ok());
  EXPECT_TRUE(AllBytes(message) == large);
}

TEST_P(InflaterTest, APlainMessageOfACompressedCallStaysAsItIs) {
  const std::string bytes = Compress("text");
  grpc::ByteBuffer message = InOneSlice(bytes);
  ASSERT_TRUE(inflater_.Inflate(&message, kClient).ok());
  EXPECT_EQ(AllBytes(message), bytes);
  grpc::ByteBuffer nothing;
  EXPECT_TRUE(inflater_.Inflate(&nothing, kClient).ok());
}

TEST_P(InflaterTest, NoBytesAndACompressedNothingAreEmptyMessages) {
  for (const std::string& bytes : {std::string(), Compress("")}) {
    grpc::ByteBuffer message = Arrived(bytes, GetParam());
    ASSERT_TRUE(inflater_.Inflate(&message, kClient).ok());
    EXPECT_TRUE(message.Valid());
    EXPECT_EQ(message.Length(), 0U);
    EXPECT_EQ(AllBytes(message), "");
  }
}

TEST_P(InflaterTest, OneByteTooManyIsRefusedAsGrpcRefusesIt) {
  for (const uint64_t limit : {1000U, 16384U, 40000U, 49152U}) {
    Inflater inflater(limit, limit);
    grpc::ByteBuffer largest = Arrived(Compress(Text(limit)), GetParam());
    ASSERT_TRUE(inflater.Inflate(&largest, kClient).ok()) << limit;
    EXPECT_EQ(largest.Length(), limit);
    largest.Clear();
    grpc::ByteBuffer message;
    const std::string last = std::to_string(limit);
    EXPECT_EQ(
        Refusal(&inflater, Arrived(Compress(Text(limit + 1)), GetParam()),
                absl::StatusCode::kResourceExhausted),
        "Received message larger than max (" + std::to_string(limit + 1) + " vs. " + last + ")");
    message = Arrived(Compress(Text(limit + 1)), GetParam());
    EXPECT_FALSE(RetryAfterNs(inflater.Inflate(&message, kClient)).has_value())
        << "it never passes";
  }
}

// Were a byte more taken than a message may have, the other limit would be met first.
TEST_P(InflaterTest, ABombTakesNoMoreThanAMessage) {
  Inflater inflater(kMessageBytes, kMessageBytes);
  const std::string bomb = Compress(std::string(32 << 20, '\0'));
  EXPECT_LT(bomb.size(), kMessageBytes);
  EXPECT_EQ(Refusal(&inflater, Arrived(bomb, GetParam()), absl::StatusCode::kResourceExhausted),
            "Received message larger than max (1048577 vs. 1048576)");
}

TEST_P(InflaterTest, AMessageCutAnywhereIsRefused) {
  const std::string bytes = Compress(Text(300));
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(Refused(bytes.substr(0, size)), Unreadable("it ends too early")) << size;
  }
}

TEST_P(InflaterTest, WhatFollowsTheEndIsRefused) {
  const std::string bytes = Compress("text");
  EXPECT_EQ(Refused(bytes + "x"), Unreadable("bytes follow its end"));
  EXPECT_EQ(Refused(bytes + bytes), Unreadable("bytes follow its end")) << "as gRPC does";
  const std::vector<grpc::Slice> slices = {grpc::Slice(bytes), grpc::Slice(bytes)};
  EXPECT_EQ(Refusal(&inflater_, Marked(grpc::ByteBuffer(slices.data(), slices.size()), GetParam()),
                    absl::StatusCode::kInvalidArgument),
            Unreadable("bytes follow its end"));
}

TEST_P(InflaterTest, NoChangedByteGoesUnseen) {
  const std::string text = Text(300);
  const std::string bytes = Compress(text);
  // Of gzip's header the time, the flags and the system mean nothing.
  for (size_t at = GetParam() == GRPC_COMPRESS_GZIP ? 10 : 2; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    grpc::ByteBuffer message = Arrived(changed, GetParam());
    const absl::Status status = inflater_.Inflate(&message, kClient);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << at << ": " << status;
    EXPECT_EQ(AllBytes(message), changed) << "it stays as it was";
    EXPECT_EQ(inflater_.held_bytes(), 0U);
  }
}

TEST_P(InflaterTest, TheOtherFormatIsRefused) {
  const auto other = GetParam() == GRPC_COMPRESS_GZIP ? GRPC_COMPRESS_DEFLATE : GRPC_COMPRESS_GZIP;
  EXPECT_EQ(Refused(Compressed("text", other)), Unreadable("incorrect header check"));
  EXPECT_EQ(Refused("text"), Unreadable("incorrect header check"));
}

TEST(Inflater, ADictionaryThatNobodyHasIsRefused) {
  Inflater inflater(kMessageBytes, kHeldBytes);
  const std::string needs_one = {0x78, static_cast<char>(0xbb), 0, 0, 0, 1, 0, 0};
  EXPECT_EQ(Refusal(&inflater, Arrived(needs_one, GRPC_COMPRESS_DEFLATE),
                    absl::StatusCode::kInvalidArgument),
            "the message cannot be inflated as deflate: it needs a dictionary");
}

TEST_P(InflaterTest, IsHeldUntilTheLastReaderIsDone) {
  grpc::ByteBuffer message = Arrived(Compress(Text(500'000)), GetParam());
  ASSERT_TRUE(inflater_.Inflate(&message, kClient).ok());
  EXPECT_GE(inflater_.held_bytes(), 500'000U);
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(message.Dump(&slices).ok());
  message.Clear();
  EXPECT_GE(inflater_.held_bytes(), 500'000U);
  slices.clear();
  EXPECT_EQ(inflater_.held_bytes(), 0U);
}

TEST_P(InflaterTest, ASmallOneHoldsLittle) {
  grpc::ByteBuffer message = Arrived(Compress(Text(300)), GetParam());
  ASSERT_TRUE(inflater_.Inflate(&message, kClient).ok());
  EXPECT_LE(inflater_.held_bytes(), 2048U);
  // What is read behind the last byte asks for a second piece, and puts nothing into it.
  const std::string bytes = Compress(std::string(1024, 'x'));
  const std::vector<grpc::Slice> slices = {grpc::Slice(bytes.substr(0, bytes.size() - 1)),
                                           grpc::Slice(bytes.substr(bytes.size() - 1))};
  message = Marked(grpc::ByteBuffer(slices.data(), slices.size()), GetParam());
  ASSERT_TRUE(inflater_.Inflate(&message, kClient).ok());
  EXPECT_EQ(inflater_.held_bytes(), 1024U);
}

TEST_P(InflaterTest, AllMessagesTogetherAreBounded) {
  const std::string bytes = Compress(Text(kMessageBytes));
  std::vector<grpc::ByteBuffer> messages;
  for (uint64_t held = 0; held < kHeldBytes; held += kMessageBytes) {
    messages.push_back(Arrived(bytes, GetParam()));
    ASSERT_TRUE(inflater_.Inflate(&messages.back(), std::to_string(held)).ok());
  }
  EXPECT_EQ(inflater_.held_bytes(), kHeldBytes);
  grpc::ByteBuffer refused = Arrived(bytes, GetParam());
  const absl::Status status = inflater_.Inflate(&refused, kClient);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "too many compressed messages are being inflated");
  EXPECT_GT(RetryAfterNs(status).value_or(0), 0) << "it passes";
  EXPECT_EQ(inflater_.held_bytes(), kHeldBytes);
  messages.pop_back();
  EXPECT_TRUE(inflater_.Inflate(&refused, kClient).ok());
}

TEST_P(InflaterTest, OneClientLeavesHalfToOthers) {
  const std::string bytes = Compress(Text(kMessageBytes));
  std::vector<grpc::ByteBuffer> messages;
  for (uint64_t held = 0; held < kHeldBytes / 2; held += kMessageBytes) {
    messages.push_back(Arrived(bytes, GetParam()));
    ASSERT_TRUE(inflater_.Inflate(&messages.back(), kClient).ok());
  }
  grpc::ByteBuffer message = Arrived(bytes, GetParam());
  EXPECT_EQ(inflater_.Inflate(&message, kClient).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(inflater_.Inflate(&message, "another").ok());
  messages.pop_back();
  message = Arrived(bytes, GetParam());
  EXPECT_TRUE(inflater_.Inflate(&message, kClient).ok());
}

}  // namespace
}  // namespace mpsd
