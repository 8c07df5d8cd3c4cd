#include "proto/base/units.h"

#include <string>

#include "gtest/gtest.h"

namespace mpsd {
namespace {

int64_t Duration(std::string_view text) {
  const absl::StatusOr<int64_t> parsed = ParseDurationNs(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.value_or(-1);
}

std::string DurationError(std::string_view text) {
  return std::string(ParseDurationNs(text).status().message());
}

uint64_t Bytes(std::string_view text) {
  const absl::StatusOr<uint64_t> parsed = ParseBytes(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.value_or(~0ULL);
}

std::string BytesError(std::string_view text) {
  return std::string(ParseBytes(text).status().message());
}

constexpr char kDurationHint[] = "must be a duration like '500us' (ns, us, ms, s, m, h)";
constexpr char kSizeHint[] = "must be a size like '64MiB' (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)";

TEST(ParseDuration, KnowsEveryUnit) {
  EXPECT_EQ(Duration("250ns"), 250);
  EXPECT_EQ(Duration("500us"), 500'000);
  EXPECT_EQ(Duration("10ms"), 10'000'000);
  EXPECT_EQ(Duration("2s"), 2'000'000'000);
  EXPECT_EQ(Duration("5m"), 300'000'000'000);
  EXPECT_EQ(Duration("1h"), 3'600'000'000'000);
}

TEST(ParseDuration, IsExactInFractions) {
  EXPECT_EQ(Duration("1.5s"), 1'500'000'000);
  EXPECT_EQ(Duration("0.1us"), 100);
  EXPECT_EQ(Duration("0.000000001s"), 1);
}

TEST(ParseDuration, RefusesFractionsOfANanosecond) {
  EXPECT_EQ(DurationError("0.5ns"), "'0.5ns' is finer than the smallest unit");
}

TEST(ParseDuration, TakesOnlyZeroWithoutAUnit) {
  EXPECT_EQ(Duration("0"), 0);
  EXPECT_EQ(DurationError("5"), std::string("'5' has no unit; it ") + kDurationHint);
}

TEST(ParseDuration, TakesOneSpaceBeforeTheUnit) {
  EXPECT_EQ(Duration("5 ms"), 5'000'000);
  EXPECT_FALSE(ParseDurationNs("5  ms").ok());
  EXPECT_FALSE(ParseDurationNs("5ms ").ok());
}

TEST(ParseDuration, RefusesWhatIsNoDuration) {
  for (const char* text : {"", "ms", "-5ms", "+5ms", ".5s", "5.s", "1.2.3s", "5 ", "1e3s", "5MS",
                           "5days", "0x5s", "5ms1s"}) {
    EXPECT_EQ(DurationError(text), "'" + std::string(text) + "' " + kDurationHint);
  }
}

TEST(ParseDuration, ReachesTheLargestValueAndNotBeyond) {
  EXPECT_EQ(Duration("9223372036854775807ns"), INT64_MAX);
  EXPECT_EQ(DurationError("9223372036854775808ns"), "'9223372036854775808ns' is too large");
  EXPECT_EQ(DurationError("2562048h"), "'2562048h' is too large");
  // More digits than 64 bits hold.
  EXPECT_FALSE(ParseDurationNs("99999999999999999999ns").ok());
  EXPECT_FALSE(ParseDurationNs("0.00000000000000000001s").ok());
}

TEST(ParseBytes, KnowsEveryUnit) {
  EXPECT_EQ(Bytes("512B"), 512U);
  EXPECT_EQ(Bytes("64KiB"), 64U << 10);
  EXPECT_EQ(Bytes("1.5MiB"), 3U << 19);
  EXPECT_EQ(Bytes("2GiB"), 2ULL << 30);
  EXPECT_EQ(Bytes("1TiB"), 1ULL << 40);
  EXPECT_EQ(Bytes("64kB"), 64'000U);
  EXPECT_EQ(Bytes("64MB"), 64'000'000U);
  EXPECT_EQ(Bytes("2GB"), 2'000'000'000U);
  EXPECT_EQ(Bytes("1TB"), 1'000'000'000'000U);
  EXPECT_EQ(Bytes("0"), 0U);
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text : {"", "MiB", "64mib", "64M", "64KB", "-1B", "B64"}) {
    EXPECT_EQ(BytesError(text), "'" + std::string(text) + "' " + kSizeHint);
  }
  EXPECT_EQ(BytesError("64"), std::string("'64' has no unit; it ") + kSizeHint);
  EXPECT_EQ(BytesError("0.5B"), "'0.5B' is finer than the smallest unit");
  EXPECT_EQ(BytesError("8388608TiB"), "'8388608TiB' is too large");
}

TEST(BytesText, IsShort) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1024), "1 KiB");
  EXPECT_EQ(BytesText(812 << 10), "812 KiB");
  EXPECT_EQ(BytesText(3ULL << 29), "1.5 GiB");
  EXPECT_EQ(BytesText(5000ULL << 40), "5000 TiB");
}

TEST(BytesText, NeverRoundsUpTo1024) {
  EXPECT_EQ(BytesText((1ULL << 20) - 1), "1 MiB");
  EXPECT_EQ(BytesText((1ULL << 30) - 1), "1 GiB");
}

TEST(BytesText, IsReadBack) {
  for (const uint64_t bytes : {0ULL, 7ULL, 64ULL << 20, 3ULL << 29}) {
    EXPECT_EQ(Bytes(BytesText(bytes)), bytes);
  }
}

}  // namespace
}  // namespace mpsd
