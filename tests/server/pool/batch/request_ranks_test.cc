#include "server/pool/batch/request_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RequestRanksTest : public testing::Test {
 protected:
  // A request whose answer has time until 100. A wait of 0 ends with that.
  Request* Add(uint32_t level, int64_t wait_ns = 0, bool yields = false) {
    Request& request = requests_.emplace_back();
    request.level = level;
    request.yields = yields;
    request.deadline_ns = 100;
    if (wait_ns > 0) request.LimitWait(wait_ns);
    ranks_.Insert(&request);
    ranks_.CheckInvariants();
    return &request;
  }

  // In the order in which they are served.
  std::vector<const Request*> All() const {
    std::vector<const Request*> all;
    ranks_.ForEach([&all](const Request* request) { all.push_back(request); });
    return all;
  }

  std::deque<Request> requests_;
  RequestRanks ranks_;
  std::vector<Request*> expired_;
};

TEST_F(RequestRanksTest, TheUrgentComeFirstAndAmongThemTheEarliestDeadline) {
  Request* calm = Add(2, 10);
  Request* late = Add(0, 30);
  Request* early = Add(0, 20);
  EXPECT_THAT(All(), ElementsAre(early, late, calm));
  EXPECT_EQ(ranks_.earliest(), early);
  EXPECT_EQ(ranks_.rows(), 3u);
  ranks_.Remove(early);
  ranks_.Remove(late);
  EXPECT_EQ(ranks_.earliest(), calm);
  ranks_.Remove(calm);
  EXPECT_TRUE(ranks_.empty());
}

TEST_F(RequestRanksTest, WhoYieldsGoesBehindItsLevelAndBeforeTheNext) {
  Request* waited = Add(0, 10, /*yields=*/true);
  Request* calm = Add(1);
  Request* young = Add(0, 50);
  EXPECT_EQ(ranks_.TakeExpired(10, &expired_), 1u);
  EXPECT_THAT(expired_, IsEmpty());
  EXPECT_THAT(All(), ElementsAre(young, waited, calm));
  EXPECT_EQ(waited->deadline_ns, 100);
  ranks_.CheckInvariants();
}

TEST_F(RequestRanksTest, WhoDoesNotYieldExpires) {
  Request* strict = Add(0, 10);
  Request* alive = Add(0, 11);
  EXPECT_EQ(ranks_.TakeExpired(10, &expired_), 0u);
  EXPECT_THAT(expired_, ElementsAre(strict));
  EXPECT_THAT(All(), ElementsAre(alive));
}

TEST_F(RequestRanksTest, WhoYieldsExpiresWithItsAnswer) {
  Request* waited = Add(0, 10, /*yields=*/true);
  EXPECT_EQ(ranks_.TakeExpired(99, &expired_), 1u);
  EXPECT_EQ(ranks_.TakeExpired(99, &expired_), 0u) << "it has yielded already";
  EXPECT_EQ(ranks_.TakeExpired(100, &expired_), 0u);
  EXPECT_THAT(expired_, ElementsAre(waited));
}

TEST_F(RequestRanksTest, AtTheEndNobodyYields) {
  Request* request = Add(0, 10, /*yields=*/true);
  EXPECT_EQ(ranks_.TakeExpired(INT64_MAX, &expired_), 0u);
  EXPECT_THAT(expired_, ElementsAre(request));
}

TEST_F(RequestRanksTest, OneRankExpiresAlone) {
  Request* urgent = Add(0, 10);
  Request* calm = Add(1, 10);
  ranks_.TakeExpiredOf(calm->rank(), 10, &expired_);
  EXPECT_THAT(expired_, ElementsAre(calm));
  EXPECT_THAT(All(), ElementsAre(urgent));
}

}  // namespace
}  // namespace mpsd
