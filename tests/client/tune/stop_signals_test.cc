#include "client/tune/stop_signals.h"

#include <gtest/gtest.h>

namespace mpsd::tune {
namespace {

TEST(StopSignals, ASignalWaits) {
  const StopSignals signals;
  EXPECT_FALSE(signals.Pending());
  raise(SIGINT);
  EXPECT_TRUE(signals.Pending());
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGINT);
  int signal = 0;
  sigwait(&taken, &signal);
  EXPECT_FALSE(signals.Pending());
}

TEST(StopSignals, TakesEffectAtTheEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const StopSignals signals;
        raise(SIGTERM);
        raise(SIGINT);
      },
      [](int status) {
        return WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM);
      },
      "");
}

}  // namespace
}  // namespace mpsd::tune
