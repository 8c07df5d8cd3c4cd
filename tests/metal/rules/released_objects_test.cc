#include "tests/metal/rules/released_objects.h"

#include <cstdlib>

#include "tests/metal/rules/rule_test.h"

namespace mpsd::standin {
namespace {

using ReleasedObjectsTest = RuleTest;

TEST_F(ReleasedObjectsTest, AMessageToAReleasedObjectBreaksTheRule) {
  ReleasedObjects released(4);
  void* const object = std::malloc(16);
  released.Add(object, "MPSGraph");
  EXPECT_TRUE(released.Received(object, "retain"));
  EXPECT_EQ(Count(kReleasedObject), 1U);
  int other = 0;
  EXPECT_FALSE(released.Received(&other, "retain"));
  EXPECT_EQ(Total(), 1U);
}

TEST_F(ReleasedObjectsTest, TheOldestIsForgotten) {
  ReleasedObjects released(1);
  void* const first = std::malloc(16);
  void* const second = std::malloc(16);
  released.Add(first, "first");
  released.Add(second, "second");
  EXPECT_FALSE(released.Received(first, "retain"));
  EXPECT_TRUE(released.Received(second, "retain"));
}

}  // namespace
}  // namespace mpsd::standin
