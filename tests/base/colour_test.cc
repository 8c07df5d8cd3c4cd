#include "proto/base/colour.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>

#include "proto/base/fd.h"

namespace mpsd {
namespace {

// The inner end of a terminal of our own.
class ColourTest : public testing::Test {
 protected:
  ColourTest() : outer_(posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_EQ(grantpt(outer_.get()), 0);
    EXPECT_EQ(unlockpt(outer_.get()), 0);
    inner_ = UniqueFd(open(ptsname(outer_.get()), O_RDWR | O_NOCTTY));
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
  }

  const UniqueFd outer_;
  UniqueFd inner_;
};

TEST_F(ColourTest, ATerminalTakesColours) { EXPECT_TRUE(TakesColours(inner_.get())); }

TEST_F(ColourTest, AFileTakesNone) {
  const UniqueFd file(open("/dev/null", O_WRONLY));
  EXPECT_FALSE(TakesColours(file.get()));
  EXPECT_FALSE(TakesColours(-1));
}

TEST_F(ColourTest, APersonCanTurnThemOff) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(TakesColours(inner_.get()));
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(TakesColours(inner_.get()));
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(TakesColours(inner_.get()));
}

TEST(Coloured, OnlyWhereColoursAreTaken) {
  EXPECT_EQ(Coloured("FAIL", Colour::kRed, true), "\033[31mFAIL\033[0m");
  EXPECT_EQ(Coloured("FAIL", Colour::kRed, false), "FAIL");
  EXPECT_EQ(Coloured("-", Colour::kNone, true), "-");
}

}  // namespace
}  // namespace mpsd
