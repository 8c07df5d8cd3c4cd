#include "server/operate/upgrade_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpsd {
namespace {

using testing::ElementsAre;

TEST(StateFolders, AreThatOfTheConfigAlone) {
  EXPECT_THAT(StateFolders("/srv/state", "/run/user/1/mpsd"), ElementsAre("/srv/state"));
}

TEST(StateFolders, AreThatOfThisUserAndThatOfTheService) {
  EXPECT_THAT(StateFolders("", "/srv/.local/state/mpsd"),
              ElementsAre("/srv/.local/state/mpsd", "/var/lib/mpsd"));
  EXPECT_THAT(StateFolders("", "/var/lib/mpsd"), ElementsAre("/var/lib/mpsd"));
}

}  // namespace
}  // namespace mpsd
