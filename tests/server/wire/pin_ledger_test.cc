#include "server/wire/pin_ledger.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "proto/base/limits.h"

namespace mpsd {
namespace {

constexpr int64_t kLedgerNow = 1'000'000'000;

class PinLedgerTest : public testing::Test {
 protected:
  bool Pin(uint64_t bytes, int64_t now_ns = kLedgerNow) {
    return account_->TryPin(bytes, ledger_->limit_bytes(), now_ns);
  }

  std::unique_ptr<PinLedger> ledger_ = std::make_unique<PinLedger>(100, 1000);
  PinLedger::Account* account_ = ledger_->Of("ipv4:127.0.0.1:1");
};

TEST_F(PinLedgerTest, GivesUpToTheLimit) {
  EXPECT_TRUE(Pin(60));
  EXPECT_FALSE(Pin(41));
  EXPECT_TRUE(Pin(40));
  account_->Unpin(60, kLedgerNow);
  EXPECT_EQ(account_->pinned_bytes(), 40u);
  EXPECT_TRUE(Pin(60));
}

TEST_F(PinLedgerTest, ASlowReaderGetsNoMoreUntilItHasReadSome) {
  EXPECT_TRUE(Pin(10));
  EXPECT_TRUE(Pin(10, kLedgerNow + kSlowReaderNs));
  EXPECT_FALSE(Pin(10, kLedgerNow + kSlowReaderNs + 1));
  account_->Unpin(10, kLedgerNow + 2 * kSlowReaderNs);
  EXPECT_TRUE(Pin(10, kLedgerNow + 2 * kSlowReaderNs + 1));
}

TEST_F(PinLedgerTest, WhoKeepsNothingIsNotSlow) {
  EXPECT_TRUE(Pin(10));
  account_->Unpin(10, kLedgerNow);
  EXPECT_TRUE(Pin(10, kLedgerNow + 10 * kSlowReaderNs));
  EXPECT_TRUE(Pin(10, kLedgerNow + 11 * kSlowReaderNs)) << "the time counts from its first byte";
}

TEST_F(PinLedgerTest, ConnectionsHaveAccountsOfTheirOwn) {
  EXPECT_EQ(ledger_->Of("ipv4:127.0.0.1:1"), account_);
  std::set<PinLedger::Account*> accounts;
  for (int i = 0; i < 20; ++i) accounts.insert(ledger_->Of("ipv4:1:" + std::to_string(i)));
  EXPECT_GT(accounts.size(), 10u) << "but for a few that share one";
}

TEST_F(PinLedgerTest, CopiesHaveALimitOfTheirOwn) {
  const auto room = ledger_->copies()->Take("ipv4:127.0.0.1:1", 1000, kLedgerNow);
  EXPECT_TRUE(room.has_value());
  EXPECT_FALSE(ledger_->copies()->Take("ipv4:127.0.0.1:2", 1, kLedgerNow).has_value());
  EXPECT_TRUE(Pin(100)) << "they are none of what is pinned";
}

TEST_F(PinLedgerTest, ALimitOfNothingKeepsNothing) {
  ledger_ = std::make_unique<PinLedger>(0, 1000);
  account_ = ledger_->Of("x");
  EXPECT_FALSE(Pin(1));
}

TEST_F(PinLedgerTest, ThreadsNeverGoBeyondTheLimitAndLoseNothing) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 10'000; ++round) {
        if (!Pin(40)) continue;
        account_->Unpin(40, kLedgerNow);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(account_->pinned_bytes(), 0u);
}

}  // namespace
}  // namespace mpsd
