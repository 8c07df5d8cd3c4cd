#include "server/pool/batch/request_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "proto/base/limits.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr uint32_t kSuspects = SchedulerDecision::kSuspects;

class RequestLinesTest : public testing::Test {
 protected:
  // Two requests have the same key if their lengths are equal.
  Request* Add(int64_t length, int64_t deadline_ns = 10, bool suspect = false) {
    Request& request = requests_.emplace_back();
    request.key.push_back(length);
    request.rows = 1;
    request.deadline_ns = deadline_ns;
    request.suspect = suspect;
    request.Go(RequestState::kReserved);
    request.Go(RequestState::kQueued);
    lines_.Add(&request);
    lines_.CheckInvariants();
    return &request;
  }

  std::deque<Request> requests_;
  RequestLines lines_;
};

TEST_F(RequestLinesTest, AKeyHasOneLineWhoseHeadIsTheEarliest) {
  Add(1, 30);
  Request* earliest = Add(1, 20);
  Request* other = Add(2, 10);
  ASSERT_EQ(lines_.views().size(), 2u);
  EXPECT_EQ(lines_.first(0), earliest);
  EXPECT_EQ(lines_.first(1), other);
  EXPECT_EQ(lines_.views()[0], (LineView{2, 1, 0, 20, 20, 30, lines_.curve(0)}));
}

TEST_F(RequestLinesTest, AViewTellsTheHeadsRankFromThoseBehind) {
  Request* calm = Add(1, 15);
  lines_.Remove(calm);
  calm->level = 3;
  lines_.Add(calm);
  Request* calmer = Add(1, 5);
  lines_.Remove(calmer);
  calmer->level = 4;
  lines_.Add(calmer);
  Request* urgent = Add(1, 20);
  LineView wanted = {1, 1, 0, 20, 20, 20, lines_.curve(0)};
  wanted.later_rows = 2;
  wanted.later_rank = calmer->rank();
  wanted.later_deadline_ns = wanted.later_answer_deadline_ns = 5;
  EXPECT_EQ(lines_.views()[0], wanted);
  lines_.Remove(urgent);
  wanted = {1, 1, 0, 15, 15, 15, lines_.curve(0)};
  wanted.rank = calm->rank();
  wanted.later_rows = 1;
  wanted.later_rank = calmer->rank();
  wanted.later_deadline_ns = wanted.later_answer_deadline_ns = 5;
  EXPECT_EQ(lines_.views()[0], wanted);
  lines_.CheckInvariants();
}

TEST_F(RequestLinesTest, PopShowsTheNextHead) {
  Add(1, 10);
  Add(1, 20);
  lines_.Pop(0, 0);
  EXPECT_EQ(lines_.views()[0], (LineView{1, 1, 0, 20, 20, 20, lines_.curve(0)}));
  lines_.Pop(0, 0);
  EXPECT_TRUE(lines_.views()[0].empty());
  lines_.CheckInvariants();
  EXPECT_DEATH(lines_.Pop(0, 0), "check failed");
}

class TenantLinesTest : public RequestLinesTest {
 protected:
  Request* AddOf(uint32_t tenant, int64_t length, int64_t deadline_ns) {
    Request* request = Add(length, deadline_ns);
    lines_.Remove(request);
    request->tenant = tenant;
    lines_.Add(request);
    lines_.CheckInvariants();
    return request;
  }
};

TEST_F(TenantLinesTest, TakeTurnsByWhatTheyAreCharged) {
  std::vector<Request*> greedy;
  for (int i = 0; i < 3; ++i) greedy.push_back(AddOf(1, 1, 10));
  Request* modest = AddOf(2, 1, 20);
  EXPECT_EQ(lines_.first(0), greedy[0]);
  lines_.Pop(0, 7);
  EXPECT_EQ(lines_.first(0), modest) << "though its deadline is later";
  lines_.Refund(*greedy[0]);
  EXPECT_EQ(lines_.first(0), greedy[1]);
}

TEST_F(TenantLinesTest, AllLinesShowWhatTheirNextTenantHasHad) {
  AddOf(1, 1, 10);
  AddOf(1, 1, 11);
  AddOf(1, 2, 5);
  AddOf(2, 3, 30);
  lines_.Pop(0, 7);
  lines_.ShowShares();
  EXPECT_EQ(lines_.views()[0].head_served_ns, 7);
  EXPECT_EQ(lines_.views()[1].head_served_ns, 7);
  EXPECT_EQ(lines_.views()[2].head_served_ns, 0);
}

TEST_F(TenantLinesTest, ARowIsChargedItsPartOfABatch) {
  AddOf(1, 1, 10);
  EXPECT_GT(lines_.RowNs(0, 4), 0) << "nothing is known";
  LatencyCurve* curve = lines_.curve(0);
  for (int i = 0; i < 8; ++i) curve->Note(2, 5000);
  AddOf(1, 1, 11);
  AddOf(1, 1, 12);
  EXPECT_EQ(lines_.RowNs(0, 2), curve->MeanNs(2) / 2);
  EXPECT_EQ(lines_.RowNs(0, 4), curve->MeanNs(3) / 3);
}

TEST_F(TenantLinesTest, ARowOfNearlyNoTimeIsChargedAllTheSame) {
  for (int i = 0; i < 4; ++i) AddOf(1, 1, 10);
  LatencyCurve* curve = lines_.curve(0);
  for (int i = 0; i < 8; ++i) curve->Note(4, 1);
  EXPECT_EQ(lines_.RowNs(0, 4), 1) << "or its tenant would never wait for another";
}

TEST_F(RequestLinesTest, WithOneTenantNobodyIsCharged) {
  Add(1);
  EXPECT_EQ(lines_.RowNs(0, 4), 0);
}

TEST_F(RequestLinesTest, SuspectsOfAllKeysShareOneLine) {
  Request* late = Add(1, 20, true);
  Request* early = Add(2, 10, true);
  EXPECT_TRUE(lines_.views().empty());
  EXPECT_EQ(lines_.first(kSuspects), early);
  lines_.Pop(kSuspects, 0);
  EXPECT_EQ(lines_.first(kSuspects), late);
  lines_.Remove(late);
  EXPECT_TRUE(lines_.suspects().empty());
}

TEST_F(RequestLinesTest, TheIdleLineThatWasUsedLeastRecentlyIsForgotten) {
  std::vector<Request*> requests;
  for (int64_t key = 0; key < kMaxOpenSlabs; ++key) requests.push_back(Add(key));
  lines_.Remove(requests[3]);
  lines_.Remove(requests[1]);
  Request* newest = Add(1000);
  EXPECT_EQ(lines_.views().size(), kMaxOpenSlabs);
  EXPECT_EQ(lines_.first(3), newest) << "the last line takes the place of the one that goes";
  EXPECT_EQ(lines_.first(1), nullptr) << "the line that was emptied later is still there";
  Add(1001);
  EXPECT_EQ(lines_.views().size(), kMaxOpenSlabs);
  for (const LineView& view : lines_.views()) EXPECT_FALSE(view.empty());
  Add(1002);
  EXPECT_EQ(lines_.views().size(), kMaxOpenSlabs + 1) << "no line is idle";
}

TEST_F(RequestLinesTest, OfManyIdleLinesTheOneUsedLeastRecentlyIsForgotten) {
  std::vector<Request*> requests;
  for (int64_t key = 0; key < kMaxOpenSlabs; ++key) requests.push_back(Add(key));
  lines_.Remove(requests[7]);
  for (size_t key = 8; key < requests.size(); ++key) lines_.Remove(requests[key]);
  Request* newest = Add(1000);
  EXPECT_EQ(lines_.first(7), newest);
}

TEST_F(RequestLinesTest, ExpiredRequestsLeaveEveryLine) {
  Request* suspect = Add(1, 10, true);
  Request* expired = Add(1, 10);
  Request* alive = Add(1, 11);
  Request* other = Add(2, 9);
  std::vector<Request*> taken;
  lines_.TakeExpiredOf(0, 0, 9, &taken);
  EXPECT_TRUE(taken.empty());
  lines_.TakeExpired(10, &taken);
  EXPECT_THAT(taken, UnorderedElementsAre(suspect, expired, other));
  EXPECT_EQ(lines_.first(0), alive);
  lines_.CheckInvariants();
}

TEST_F(RequestLinesTest, TakeEqualAsksForTheSameKeyAndTheSuspects) {
  Request* model = Add(1);
  Request* other_key = Add(2);
  Request* equal = Add(1, 1);
  Request* suspect = Add(2, 10, true);
  std::vector<const Request*> asked;
  std::vector<Request*> taken;
  const auto all_but_the_model = [&](const Request& request) {
    asked.push_back(&request);
    return &request != model;
  };
  lines_.TakeEqual(*model, all_but_the_model, &taken);
  EXPECT_THAT(asked, UnorderedElementsAre(model, equal, suspect));
  EXPECT_THAT(taken, ElementsAre(suspect, equal));
  EXPECT_EQ(lines_.first(1), other_key);
  lines_.CheckInvariants();
}

}  // namespace
}  // namespace mpsd
