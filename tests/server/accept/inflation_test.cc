#include "server/accept/inflation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/server/inflate/compressed.h"
#include "tests/server/wire/slices.h"

namespace mpsd {
namespace {

constexpr uint64_t kLimitBytes = 1 << 20;

struct CountingTag final : QueueTag {
  void Proceed(bool ok) override { count += ok ? 1 : 100; }
  int count = 0;
};

grpc::ByteBuffer Arrived(const std::string& text) {
  grpc::ByteBuffer message = InOneSlice(Compressed(text, GRPC_COMPRESS_GZIP));
  EncodingMark(&message, GRPC_COMPRESS_GZIP);
  return message;
}

std::string Client() { return "ipv4:127.0.0.1:1"; }

class InflationTest : public testing::Test {
 protected:
  ~InflationTest() override {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    EXPECT_FALSE(queue_.Next(&tag, &ok)) << "a tag that nobody took";
  }

  void TakeOne() {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue_.Next(&tag, &ok));
    static_cast<QueueTag*>(tag)->Proceed(ok);
  }

  grpc::CompletionQueue queue_;
  Inflater inflater_{kLimitBytes, kLimitBytes};
  InflaterThreads threads_{&inflater_};
  CountingTag tag_;
};

TEST_F(InflationTest, APlainMessageGoesNowhere) {
  Inflation inflation;
  grpc::ByteBuffer message = InOneSlice("text");
  EXPECT_FALSE(inflation.Begin(&threads_, &queue_, &message, &tag_, Client));
  EXPECT_EQ(AllBytes(message), "text");
}

TEST_F(InflationTest, ACompressedOneComesBackOnItsQueue) {
  threads_.Start(1);
  Inflation inflation;
  for (const std::string text : {"one", "two"}) {
    grpc::ByteBuffer message = Arrived(text);
    ASSERT_TRUE(inflation.Begin(&threads_, &queue_, &message, &tag_, Client));
    TakeOne();
    EXPECT_TRUE(inflation.status().ok()) << inflation.status();
    EXPECT_EQ(AllBytes(message), text);
  }
  EXPECT_EQ(tag_.count, 2);
}

TEST_F(InflationTest, SoDoesOneThatCannotBeInflated) {
  threads_.Start(1);
  Inflation inflation;
  grpc::ByteBuffer message = Arrived(std::string(kLimitBytes + 1, 'x'));
  ASSERT_TRUE(inflation.Begin(&threads_, &queue_, &message, &tag_, Client));
  TakeOne();
  EXPECT_EQ(inflation.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(tag_.count, 1);
}

TEST_F(InflationTest, WhatNobodyWaitsForIsNotInflated) {
  Inflation inflation;
  grpc::ByteBuffer message = Arrived("text");
  ASSERT_TRUE(inflation.Begin(&threads_, &queue_, &message, &tag_, Client));
  inflation.Drop();
  threads_.Start(1);
  TakeOne();
  EXPECT_EQ(inflation.status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Inflater::IsCompressed(&message));
  EXPECT_EQ(tag_.count, 1);
  // The next one is waited for.
  ASSERT_TRUE(inflation.Begin(&threads_, &queue_, &message, &tag_, Client));
  TakeOne();
  EXPECT_EQ(AllBytes(message), "text");
}

TEST_F(InflationTest, SeveralThreadsTakeThemAllOnce) {
  constexpr int kMessages = 200;
  threads_.Start(3);
  std::vector<grpc::ByteBuffer> messages;
  std::vector<std::unique_ptr<Inflation>> inflations;
  for (int i = 0; i < kMessages; ++i) {
    messages.push_back(Arrived("text " + std::to_string(i)));
    inflations.push_back(std::make_unique<Inflation>());
  }
  for (size_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(inflations[i]->Begin(&threads_, &queue_, &messages[i], &tag_, Client));
  }
  for (int i = 0; i < kMessages; ++i) TakeOne();
  EXPECT_EQ(tag_.count, kMessages);
  for (size_t i = 0; i < kMessages; ++i) {
    EXPECT_EQ(AllBytes(messages[i]), "text " + std::to_string(i));
  }
}

}  // namespace
}  // namespace mpsd
