#include "server/pool/batch/request_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;

std::vector<const Request*> All(const RequestList& list) {
  std::vector<const Request*> all;
  for (size_t i = 0; i < list.size(); ++i) all.push_back(list.at(i));
  return all;
}

std::vector<int64_t> Deadlines(const RequestList& list) {
  std::vector<int64_t> deadlines;
  for (const Request* request : All(list)) deadlines.push_back(request->deadline_ns);
  return deadlines;
}

class RequestListTest : public testing::Test {
 protected:
  Request* Insert(int64_t deadline_ns, uint32_t rows = 1) {
    Request& request = requests_.emplace_back();
    request.deadline_ns = deadline_ns;
    request.rows = rows;
    list_.InsertByDeadline(&request);
    return &request;
  }

  std::deque<Request> requests_;
  RequestList list_;
};

TEST_F(RequestListTest, IsSortedByDeadline) {
  for (const int64_t deadline : {30, 10, 40, 20}) Insert(deadline);
  EXPECT_THAT(Deadlines(list_), ElementsAre(10, 20, 30, 40));
  EXPECT_EQ(list_.head()->deadline_ns, 10);
  EXPECT_EQ(list_.tail()->deadline_ns, 40);
}

TEST_F(RequestListTest, EqualDeadlinesKeepTheirOrder) {
  const Request* first = Insert(10);
  const Request* later = Insert(20);
  Request* second = Insert(10);
  const Request* third = Insert(10);
  const Request* earlier = Insert(5);
  EXPECT_THAT(All(list_), ElementsAre(earlier, first, second, third, later));
  list_.Remove(second);
  EXPECT_THAT(All(list_), ElementsAre(earlier, first, third, later));
}

TEST_F(RequestListTest, RemovesFromAnyPlace) {
  Request* first = Insert(10);
  Request* middle = Insert(20);
  Request* last = Insert(30);
  Insert(25);
  list_.Remove(middle);
  EXPECT_THAT(Deadlines(list_), ElementsAre(10, 25, 30));
  list_.Remove(last);
  list_.Remove(first);
  EXPECT_THAT(Deadlines(list_), ElementsAre(25));
  list_.Remove(list_.head());
  EXPECT_TRUE(list_.empty());
  EXPECT_EQ(list_.head(), nullptr);
  EXPECT_EQ(list_.tail(), nullptr);
  Insert(1);
  EXPECT_THAT(Deadlines(list_), ElementsAre(1));
}

TEST_F(RequestListTest, CountsRows) {
  Request* first = Insert(1, 3);
  Insert(2, 4);
  EXPECT_EQ(list_.rows(), 7u);
  list_.Remove(first);
  EXPECT_EQ(list_.rows(), 4u);
}

TEST_F(RequestListTest, DoesNotRemoveOneThatIsNotHere) {
  Insert(10);
  Request stranger;
  stranger.deadline_ns = 10;
  EXPECT_DEATH(list_.Remove(&stranger), "check failed");
}

// The ring goes round and grows meanwhile; beside it a vector does the same the simple way.
TEST_F(RequestListTest, IsRightUnderRandomInsertsAndRemovals) {
  std::mt19937 random(3);
  std::vector<const Request*> wanted;
  const auto is_before = [](const Request* one, const Request* other) {
    return one->deadline_ns < other->deadline_ns;
  };
  for (int step = 0; step < 4000; ++step) {
    const size_t target = step % 1000 < 500 ? 100 : 3;
    if (wanted.size() < random() % (2 * target)) {
      // In turn like clients that all wait for as long, and like clients that do not.
      const Request* request = Insert(step % 200 < 100 ? step : static_cast<int>(random() % 4000));
      wanted.insert(std::upper_bound(wanted.begin(), wanted.end(), request, is_before), request);
    } else if (!wanted.empty()) {
      const size_t which = random() % 2 == 0 ? 0 : random() % wanted.size();
      list_.Remove(const_cast<Request*>(wanted[which]));
      wanted.erase(wanted.begin() + static_cast<ptrdiff_t>(which));
    }
    ASSERT_EQ(All(list_), wanted) << step;
    ASSERT_EQ(list_.rows(), wanted.size());
  }
}

}  // namespace
}  // namespace mpsd
