#include "worker/model/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

TEST(LoadForGood, ALibraryThatIsNotThereIsNamedInTheLoadersOwnWords) {
  const absl::Status status = LoadForGood("libmpsd_there_is_none.so");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("libmpsd_there_is_none.so"));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("o such file"));
}

TEST(LoadForGood, AFileThatIsNoLibraryIsSaidToBeNone) {
  EXPECT_FALSE(LoadForGood("/dev/null").ok());
}

}  // namespace
}  // namespace mpsd
