// A fixture for the tests of rules.
#pragma once

#include "gtest/gtest.h"
#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

// Starts each test without a broken rule. Lives on the test's thread.
class RuleTest : public testing::Test {
 protected:
  RuleTest() { BrokenRules::All().Clear(); }

  static uint64_t Count(const Rule& rule) { return BrokenRules::All().Count(rule); }
  static uint64_t Total() { return BrokenRules::All().Total(); }
};

}  // namespace mpsd::standin
