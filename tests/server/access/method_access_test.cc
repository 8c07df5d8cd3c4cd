#include "server/access/method_access.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(MethodAccess, IsFoundByItsNameAndByNoOther) {
  for (const MethodAccess& method : AllMethodAccess()) {
    EXPECT_EQ(&AccessOf(method.name), &method) << method.name;
    const std::string longer = std::string(method.name) + "x";
    EXPECT_TRUE(AccessOf(longer).roles.empty()) << longer;
    EXPECT_TRUE(AccessOf(method.name.substr(1)).roles.empty());
  }
  EXPECT_TRUE(AccessOf("").roles.empty());
  EXPECT_TRUE(AccessOf("/").roles.empty());
  EXPECT_TRUE(AccessOf("/zzz").roles.empty());
}

TEST(MethodAccess, IsSortedByName) {
  const auto methods = AllMethodAccess();
  for (size_t i = 1; i < methods.size(); ++i) {
    EXPECT_LT(methods[i - 1].name, methods[i].name);
  }
}

TEST(MethodAccess, EachIsSomebodysToCall) {
  for (const MethodAccess& method : AllMethodAccess()) {
    EXPECT_FALSE(method.roles.empty()) << method.name;
  }
}

}  // namespace
}  // namespace mpsd
