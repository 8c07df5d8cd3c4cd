#include "proto/base/core_binding.h"

#include <gtest/gtest.h>

#include <vector>

namespace mpsd {
namespace {

using Cores = std::vector<uint32_t>;

TEST(CoreBinding, KeepsItsThreadOnCoresWhileItLives) {
  const Cores before = CoreBinding::OfThread();
  if (before.empty()) GTEST_SKIP() << "this system binds no threads";
  {
    const Cores last = {before.back()};
    const CoreBinding bound(last);
    EXPECT_EQ(CoreBinding::OfThread(), last);
  }
  EXPECT_EQ(CoreBinding::OfThread(), before);
}

TEST(CoreBinding, ChangesNothingWithoutCoresThatTheHostHas) {
  const Cores before = CoreBinding::OfThread();
  for (const Cores& cores : {Cores{}, Cores{1000000}}) {
    const CoreBinding bound(cores);
    EXPECT_EQ(CoreBinding::OfThread(), before);
  }
}

}  // namespace
}  // namespace mpsd
