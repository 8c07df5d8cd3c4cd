#include "proto/base/thread_role.h"

#include <gtest/gtest.h>

#include <thread>

namespace mpsd {
namespace {

TEST(ThreadRole, EveryThreadPassesWhileNoneIsBound) {
  ThreadRole role;
  role.Check();
  std::thread([&role] { role.Check(); }).join();
}

TEST(ThreadRole, TheBoundThreadPasses) {
  ThreadRole role;
  role.Bind();
  role.Check();
  role.Unbind();
  std::thread([&role] {
    role.Bind();
    role.Check();
    role.Unbind();
  }).join();
}

TEST(ThreadRoleDeathTest, AnotherThreadDoesNotPass) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ThreadRole role;
  role.Bind();
  EXPECT_DEATH(std::thread([&role] { role.Check(); }).join(), "check failed");
}

TEST(ThreadRoleDeathTest, ABoundRoleIsNotBoundAgain) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ThreadRole role;
  role.Bind();
  EXPECT_DEATH(role.Bind(), "check failed");
}

}  // namespace
}  // namespace mpsd
