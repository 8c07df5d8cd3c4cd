#include "server/operate/doctor/descriptor_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpsd {
namespace {

using testing::HasSubstr;

constexpr DescriptorNeeds kNeeds{.models = 3, .files = 3, .workers = 5, .connections = 1024};

TEST(DescriptorNeeds, TooFewForTheWorkersAreAnError) {
  const uint64_t fewest = kNeeds.ToServe() + kFewestConnections;
  EXPECT_TRUE(CheckDescriptors(kNeeds, fewest).ok());
  const absl::Status status = CheckDescriptors(kNeeds, fewest - 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(),
            "this process may have 90 descriptors (ulimit -Hn), but 5 workers of 3 models take "
            "about 83, and each client one more; raise the limit");
}

TEST(DescriptorNeeds, TooFewForAllConnectionsAreAWarning) {
  EXPECT_EQ(DescriptorWarning(kNeeds, kNeeds.InAll()), "");
  EXPECT_THAT(DescriptorWarning(kNeeds, kNeeds.InAll() - 1),
              HasSubstr("limits.connections 1024 more"));
}

TEST(DescriptorNeeds, ConnectionsLeaveWhatWorkersNeed) {
  EXPECT_EQ(ConnectionsThatFit(1000, kNeeds, kNeeds.InAll()), 1000u);
  const uint64_t kept = kNeeds.ToServe() + kSpareDescriptors;
  EXPECT_EQ(ConnectionsThatFit(512, kNeeds, kept + 512), 256u) << "half of what all doors want";
  EXPECT_EQ(ConnectionsThatFit(512, kNeeds, kNeeds.ToServe()), 4u) << "of the fewest";
  EXPECT_EQ(ConnectionsThatFit(1, kNeeds, 64), 1u);
}

TEST(DescriptorNeeds, EachFileThatIsKeptOpenCounts) {
  DescriptorNeeds needs = kNeeds;
  needs.files = 64;
  EXPECT_EQ(needs.ToServe(), kNeeds.ToServe() + 61);
}

TEST(DescriptorNeeds, ASmallDaemonDoesWithSixtyFour) {
  EXPECT_TRUE(CheckDescriptors({.models = 1, .workers = 2, .connections = 1024}, 64).ok());
}

}  // namespace
}  // namespace mpsd
