#include "client/traffic/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"

namespace mpsd::traffic {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint32_t> Calls(const std::string& csv, const std::vector<TraceFilter>& filters = {}) {
  const auto trace = ParseTrace(csv, filters, kNsPerSecond);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? trace->calls : std::vector<uint32_t>{};
}

std::string Fault(const std::string& csv, const std::vector<TraceFilter>& filters = {}) {
  return std::string(ParseTrace(csv, filters, kNsPerSecond).status().message());
}

constexpr char kTwoModels[] =
    "# of two models\n"
    "bin, model, tenant, calls\n"
    "0,   a,     x,      3\n"
    "0,   b,     y,      4\r\n"
    "2,   a,     y,      5\n"
    "\n"
    "2,   a,     x,      6\n"
    "3,   b,     x,      7\n";

TEST(Trace, OfOneColumnHasABinInEachRow) {
  EXPECT_THAT(Calls("calls\n12\n0\n31\n"), ElementsAre(12, 0, 31));
}

TEST(Trace, RowsOfABinAddUpAndBinsWithoutARowAreEmpty) {
  EXPECT_THAT(Calls(kTwoModels), ElementsAre(7, 0, 11, 7));
}

TEST(Trace, FiltersLeaveRowsOutAndKeepTheBins) {
  EXPECT_THAT(Calls(kTwoModels, {{"model", "a"}}), ElementsAre(3, 0, 11, 0));
  EXPECT_THAT(Calls(kTwoModels, {{"model", "a"}, {"tenant", "x"}}), ElementsAre(3, 0, 6, 0));
}

TEST(Trace, TellsItsMeanRate) {
  const auto trace = ParseTrace("calls\n10\n30\n", {}, 500 * kNsPerMs);
  ASSERT_TRUE(trace.ok());
  EXPECT_DOUBLE_EQ(trace->CallsPerSecond(), 40);
}

TEST(Trace, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(Fault(""), HasSubstr("no calls"));
  EXPECT_THAT(Fault("calls\n0\n"), HasSubstr("no calls"));
  EXPECT_EQ(Fault("# x\nrequests\n1\n"), "line 2: there is no column 'calls'");
  EXPECT_THAT(Fault("model,calls\na,1\n"), HasSubstr("one called 'bin'"));
  EXPECT_EQ(Fault("calls\n1\n1,2\n"), "line 3: 2 fields instead of 1");
  EXPECT_THAT(Fault("calls\n-1\n"), HasSubstr("line 2: not a number of calls"));
  EXPECT_THAT(Fault("calls\n1e3\n"), HasSubstr("'1e3'"));
  EXPECT_THAT(Fault("bin,calls\nx,1\n"), HasSubstr("not a bin: 'x'"));
  EXPECT_THAT(Fault(kTwoModels, {{"zone", "a"}}), HasSubstr("no column 'zone'"));
  EXPECT_THAT(Fault(kTwoModels, {{"model", "c"}}), HasSubstr("no calls"));
}

TEST(Trace, IsBounded) {
  EXPECT_THAT(Calls(absl::StrCat("bin,calls\n1,", kCallsMax, "\n1,1\n")),
              ElementsAre(0, kCallsMax));
  EXPECT_THAT(Fault(absl::StrCat("calls\n", kCallsMax + 1, "\n")), HasSubstr("number of calls"));
  EXPECT_EQ(Calls(absl::StrCat("bin,calls\n", kBinsMax - 1, ",1\n")).size(), kBinsMax);
  EXPECT_THAT(Fault(absl::StrCat("bin,calls\n", kBinsMax, ",1\n")), HasSubstr("bins"));
  EXPECT_THAT(Fault("bin,calls\n18446744073709551615,1\n"), HasSubstr("bins"));
}

}  // namespace
}  // namespace mpsd::traffic
