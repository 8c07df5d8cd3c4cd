#include "server/pool/batch/tenant_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace mpsd {
namespace {

using testing::UnorderedElementsAre;

class TenantListsTest : public testing::Test {
 protected:
  Request* Add(uint32_t tenant, int64_t deadline_ns, uint32_t rows = 1) {
    Request& request = requests_.emplace_back();
    request.tenant = tenant;
    request.deadline_ns = deadline_ns;
    request.rows = rows;
    shares_.Enter(tenant);
    lists_.Insert(&request);
    lists_.CheckInvariants();
    return &request;
  }

  std::deque<Request> requests_;
  TenantLists lists_;
  TenantShares shares_;
};

TEST_F(TenantListsTest, TheTenantThatHasHadTheLeastIsFirst) {
  Request* early = Add(0, 10);
  Request* late = Add(2, 20);
  EXPECT_EQ(lists_.first(shares_), early) << "both have had nothing";
  shares_.Charge(0, 5);
  EXPECT_EQ(lists_.first(shares_), late);
  EXPECT_EQ(lists_.earliest(), early);
  shares_.Charge(2, 6);
  EXPECT_EQ(lists_.first(shares_), early);
  lists_.Remove(early);
  EXPECT_EQ(lists_.first(shares_), late) << "a lane is never idle for fairness";
  lists_.Remove(late);
  EXPECT_EQ(lists_.first(shares_), nullptr);
  EXPECT_EQ(lists_.earliest(), nullptr);
  EXPECT_TRUE(lists_.empty());
}

TEST_F(TenantListsTest, KnowsWhatAllHaveTogether) {
  Request* large = Add(0, 10, 3);
  Request* small = Add(1, 5, 1);
  Add(1, 40, 4);
  EXPECT_EQ(lists_.rows(), 8u);
  EXPECT_EQ(lists_.most_first_rows(), 3u) << "the one of four is behind another of its tenant";
  EXPECT_EQ(lists_.latest_deadline_ns(), 40);
  lists_.Remove(small);
  EXPECT_EQ(lists_.most_first_rows(), 4u);
  lists_.Remove(large);
  EXPECT_EQ(lists_.rows(), 4u);
}

TEST_F(TenantListsTest, VisitsAll) {
  Request* one = Add(0, 10);
  Request* other = Add(5, 5);
  std::vector<Request*> all;
  lists_.ForEach([&all](Request* request) { all.push_back(request); });
  EXPECT_THAT(all, UnorderedElementsAre(one, other));
}

}  // namespace
}  // namespace mpsd
