#include "server/supervise/memory_budget.h"

#include <gmock/gmock.h>

namespace mpsd {
namespace {

using testing::HasSubstr;

TEST(MemoryBudget, GivesUpToItsCap) {
  MemoryBudget budget(1000);
  EXPECT_TRUE(budget.Take(600, "one").ok());
  EXPECT_TRUE(budget.Take(400, "two").ok());
  EXPECT_EQ(budget.taken_bytes(), 1000u);
  EXPECT_EQ(budget.Take(1, "three").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(budget.taken_bytes(), 1000u) << "a refusal takes nothing";
  budget.GiveBack(400);
  EXPECT_TRUE(budget.Take(400, "three").ok());
}

TEST(MemoryBudget, ARefusalSaysTheNumbers) {
  MemoryBudget budget(2 << 20);
  ASSERT_TRUE(budget.Take(1 << 20, "one").ok());
  const absl::Status status = budget.Take(3 << 20, "model 'm': slabs");
  EXPECT_EQ(status.message(),
            "model 'm': slabs needs 3 MiB of shared memory, but of the 2 MiB that "
            "limits.shared_memory allows 1 MiB are taken");
}

TEST(MemoryBudget, NeverBeyondWhatTheHostHasLeft) {
  MemoryBudget budget(0);
  const absl::Status status = budget.Take(1ULL << 60, "all of it");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("left"));
  EXPECT_EQ(budget.taken_bytes(), 0u);
}

TEST(MemoryBudget, UnderLoadItLeavesRoomForWhatClientsSend) {
  MemoryBudget budget(0, /*clients_bytes=*/1ULL << 60);
  EXPECT_TRUE(budget.Take(1, "at the start").ok());
  EXPECT_EQ(budget.TakeUnderLoad(1, "later").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(budget.taken_bytes(), 1u);
}

TEST(MemoryBudget, SizesThatOverflowAreRefused) {
  MemoryBudget capped(1000);
  ASSERT_TRUE(capped.Take(500, "one").ok());
  EXPECT_FALSE(capped.Take(UINT64_MAX, "all").ok());
  EXPECT_FALSE(capped.Take(UINT64_MAX - 100, "all").ok());
  MemoryBudget open(0);
  EXPECT_FALSE(open.Take(UINT64_MAX, "all").ok());
}

TEST(MemoryBudget, AShareIsGivenBackWithItsLastCopyEvenAfterTheBudget) {
  auto budget = std::make_unique<MemoryBudget>(1000);
  ASSERT_TRUE(budget->Take(600, "one").ok());
  std::shared_ptr<void> share = budget->Share(600);
  std::shared_ptr<void> copy = share;
  share.reset();
  EXPECT_EQ(budget->taken_bytes(), 600u);
  copy.reset();
  EXPECT_EQ(budget->taken_bytes(), 0u);
  ASSERT_TRUE(budget->Take(600, "two").ok());
  share = budget->Share(600);
  budget.reset();
  share.reset();
}

}  // namespace
}  // namespace mpsd
