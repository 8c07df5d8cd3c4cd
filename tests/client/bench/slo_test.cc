#include "client/bench/slo.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "proto/base/clock.h"

namespace mpsd::bench {
namespace {

TEST(Slo, IsAPercentileAndADuration) {
  const auto slo = ParseSlo("p99.9=20ms");
  ASSERT_TRUE(slo.ok()) << slo.status();
  EXPECT_DOUBLE_EQ(slo->quantile, 0.999);
  EXPECT_EQ(slo->bound_ns, 20 * kNsPerMs);
  EXPECT_EQ(SloText(*slo), "p99.9 <= 20 ms");
}

TEST(Slo, RefusesWhatIsNone) {
  for (const char* text : {"", "p99", "99=20ms", "p0=20ms", "p100=20ms", "p99=20", "p99=0",
                           "p99=20ms,p50=3ms", "pnan=20ms"}) {
    EXPECT_FALSE(ParseSlo(text).ok()) << text;
  }
}

TEST(Slo, LatenciesHaveAUnit) {
  EXPECT_EQ(LatencyText(1'250'000), "1.25 ms");
  EXPECT_EQ(LatencyText(3'200'000'000), "3.2 s");
  EXPECT_EQ(LatencyText(std::numeric_limits<int64_t>::max()), "never");
}

}  // namespace
}  // namespace mpsd::bench
