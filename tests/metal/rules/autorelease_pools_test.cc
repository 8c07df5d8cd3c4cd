#include "tests/metal/rules/autorelease_pools.h"

#include <vector>

#include "tests/metal/rules/rule_test.h"

namespace mpsd::standin {
namespace {

class AutoreleasePoolsTest : public RuleTest {
 protected:
  void Add(int number) { pools_.Add(&objects_[number]); }
  void Pop(void* token) {
    pools_.Pop(token, [this](void* object) {
      released_.push_back(static_cast<int>(static_cast<char*>(object) - objects_));
    });
  }

  AutoreleasePools pools_;
  char objects_[4] = {};
  std::vector<int> released_;
};

TEST_F(AutoreleasePoolsTest, APoolReleasesWhatWasAddedSinceItBegan) {
  void* const outer = pools_.Push();
  Add(0);
  void* const inner = pools_.Push();
  Add(1);
  Pop(inner);
  EXPECT_EQ(released_, std::vector<int>({1}));
  Pop(outer);
  EXPECT_EQ(released_, std::vector<int>({1, 0}));
  EXPECT_EQ(Total(), 0U);
}

TEST_F(AutoreleasePoolsTest, APoolEndsThoseInsideOfIt) {
  void* const outer = pools_.Push();
  pools_.Push();
  Add(0);
  Pop(outer);
  EXPECT_EQ(released_, std::vector<int>({0}));
  EXPECT_EQ(Total(), 0U);
}

TEST_F(AutoreleasePoolsTest, APoolThatIsDrainedAfterItsOuterOneBreaksTheRule) {
  void* const outer = pools_.Push();
  void* const inner = pools_.Push();
  Pop(outer);
  Pop(inner);
  EXPECT_EQ(Count(kPoolOrder), 1U);
}

TEST_F(AutoreleasePoolsTest, APoolThatHasEndedEndsNoOther) {
  void* const outer = pools_.Push();
  Pop(outer);
  Pop(outer);
  EXPECT_EQ(Count(kPoolOrder), 1U);
}

TEST_F(AutoreleasePoolsTest, AnObjectWithoutAPoolStays) {
  Add(0);
  Pop(pools_.Push());
  EXPECT_TRUE(released_.empty());
}

}  // namespace
}  // namespace mpsd::standin
