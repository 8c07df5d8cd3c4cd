#include "server/operate/upgrade_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/fakes/work_folder.h"

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

TEST(Upgrade, AConfigThatIsNoJsonIsAWrongConfig) {
  const WorkFolder folder;
  std::ostringstream out;
  UpgradeOptions options;
  options.config = folder.Write("mpsd.json", "{");
  EXPECT_EQ(RunUpgrade(options, out).code(), absl::StatusCode::kInvalidArgument);
  options.config = folder.path() + "/none";
  EXPECT_EQ(RunUpgrade(options, out).code(), absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace mpsd
