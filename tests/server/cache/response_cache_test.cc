#include "server/cache/response_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace mpsd {
namespace {

ContentKey Key(uint32_t number) {
  ContentKey key{};
  for (int i = 0; i < 4; ++i) key[i] = static_cast<uint8_t>(number >> (8 * i));
  return key;
}

std::shared_ptr<const KeptAnswer> SomeAnswer() {
  return std::make_shared<const KeptAnswer>(Answer());
}

class ResponseCacheTest : public testing::Test {
 protected:
  void Put(uint32_t key, uint64_t bytes = 100) { PutOn(shelf_, key, bytes); }
  void PutOn(uint64_t shelf, uint32_t key, uint64_t bytes = 100) {
    cache_.Put(shelf, Key(key), SomeAnswer(), bytes);
  }
  bool Has(uint32_t key) { return IsOn(shelf_, key); }
  bool IsOn(uint64_t shelf, uint32_t key) { return cache_.Find(shelf, Key(key)) != nullptr; }

  ResponseCache cache_{1000};
  const uint64_t shelf_ = cache_.AddShelf();
};

TEST_F(ResponseCacheTest, FindsWhatWasPut) {
  const auto answer = SomeAnswer();
  cache_.Put(shelf_, Key(1), answer, 100);
  EXPECT_EQ(cache_.Find(shelf_, Key(1)), answer);
  EXPECT_EQ(cache_.Find(shelf_, Key(2)), nullptr);
  EXPECT_EQ(cache_.usage().answers, 1u);
  EXPECT_EQ(cache_.usage().bytes, 100u);
}

TEST_F(ResponseCacheTest, TheAnswersUsedLastStay) {
  for (uint32_t key = 0; key < 10; ++key) Put(key);
  EXPECT_TRUE(Has(0));
  Put(10);
  EXPECT_TRUE(Has(0));
  EXPECT_FALSE(Has(1));
  EXPECT_TRUE(Has(2));
  EXPECT_TRUE(Has(10));
  EXPECT_EQ(cache_.usage().evicted, 1u);
}

TEST_F(ResponseCacheTest, NeverTakesMoreThanItsBound) {
  for (uint32_t key = 0; key < 100; ++key) {
    Put(key, key % 125 + 1);
    EXPECT_LE(cache_.usage().bytes, 1000u);
  }
  EXPECT_TRUE(Has(99));
}

TEST_F(ResponseCacheTest, ALargeAnswerDrivesOutSeveral) {
  for (uint32_t key = 0; key < 10; ++key) Put(key);
  Put(10, 125);
  EXPECT_FALSE(Has(0));
  EXPECT_FALSE(Has(1));
  EXPECT_TRUE(Has(2));
  EXPECT_EQ(cache_.usage().bytes, 925u);
}

TEST_F(ResponseCacheTest, TakesNoAnswerAboveAnEighth) {
  EXPECT_TRUE(cache_.Takes(125));
  EXPECT_FALSE(cache_.Takes(126));
}

TEST_F(ResponseCacheTest, AnEqualAnswerIsKeptOnce) {
  const auto first = SomeAnswer();
  cache_.Put(shelf_, Key(1), first, 100);
  Put(1);
  EXPECT_EQ(cache_.Find(shelf_, Key(1)), first);
  EXPECT_EQ(cache_.usage().answers, 1u);
  EXPECT_EQ(cache_.usage().bytes, 100u);
}

TEST_F(ResponseCacheTest, ShelvesDoNotMeetAndGoAlone) {
  const uint64_t other = cache_.AddShelf();
  Put(1);
  EXPECT_FALSE(IsOn(other, 1));
  PutOn(other, 1);
  PutOn(other, 2);
  cache_.DropShelf(other);
  EXPECT_TRUE(Has(1));
  EXPECT_EQ(cache_.usage().answers, 1u);
  EXPECT_EQ(cache_.usage().bytes, 100u);
  EXPECT_EQ(cache_.usage().evicted, 0u);
  EXPECT_FALSE(IsOn(cache_.AddShelf(), 2));
}

TEST_F(ResponseCacheTest, OneModelDrivesOutAnothersAnswers) {
  const uint64_t other = cache_.AddShelf();
  for (uint32_t key = 0; key < 10; ++key) Put(key);
  PutOn(other, 1);
  EXPECT_FALSE(Has(0));
  EXPECT_TRUE(IsOn(other, 1));
}

TEST_F(ResponseCacheTest, AnAnswerThatIsInUseOutlivesItsPlace) {
  Put(1);
  const std::shared_ptr<const KeptAnswer> kept = cache_.Find(shelf_, Key(1));
  cache_.DropShelf(shelf_);
  EXPECT_EQ(cache_.usage().answers, 0u);
  EXPECT_TRUE(kept->View().outputs.empty());
}

TEST(ResponseCache, DropsAShelfOfMoreAnswersThanGoAtOnce) {
  ResponseCache cache(1'000'000);
  const uint64_t shelf = cache.AddShelf();
  for (uint32_t key = 0; key < 1000; ++key) cache.Put(shelf, Key(key), SomeAnswer(), 10);
  EXPECT_EQ(cache.usage().answers, 1000u);
  cache.DropShelf(shelf);
  EXPECT_EQ(cache.usage().answers, 0u);
  EXPECT_EQ(cache.usage().bytes, 0u);
}

TEST(ResponseCache, ManyThreadsShareIt) {
  ResponseCache cache(10'000);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&cache] {
      const uint64_t shelf = cache.AddShelf();
      for (uint32_t i = 0; i < 2000; ++i) {
        if (cache.Find(shelf, Key(i % 100)) == nullptr) {
          cache.Put(shelf, Key(i % 100), SomeAnswer(), 100 + i % 50);
        }
      }
      cache.DropShelf(shelf);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.usage().answers, 0u);
  EXPECT_EQ(cache.usage().bytes, 0u);
}

}  // namespace
}  // namespace mpsd
