#include "server/batch/request_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int64_t> Deadlines(const RequestList& list) {
  std::vector<int64_t> deadlines;
  for (const Request* at = list.head(); at != nullptr; at = at->next) {
    deadlines.push_back(at->deadline_ns);
  }
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
}

TEST_F(RequestListTest, EqualDeadlinesKeepTheirOrder) {
  const Request* first = Insert(10);
  const Request* second = Insert(10);
  Insert(5);
  EXPECT_EQ(list_.head()->next, first);
  EXPECT_EQ(first->next, second);
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
  EXPECT_EQ(first->next, nullptr);
  list_.Remove(list_.head());
  EXPECT_TRUE(list_.empty());
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

TEST_F(RequestListTest, StaysSortedUnderRandomInsertsAndRemovals) {
  std::mt19937 random(3);
  std::vector<Request*> inside;
  for (int step = 0; step < 3000; ++step) {
    if (inside.empty() || random() % 5 < 3) {
      inside.push_back(Insert(random() % 50));
    } else {
      const size_t which = random() % inside.size();
      list_.Remove(inside[which]);
      inside.erase(inside.begin() + static_cast<ptrdiff_t>(which));
    }
    const std::vector<int64_t> deadlines = Deadlines(list_);
    ASSERT_EQ(deadlines.size(), inside.size());
    ASSERT_TRUE(std::is_sorted(deadlines.begin(), deadlines.end()));
    if (inside.size() > 60) {
      for (Request* request : inside) list_.Remove(request);
      inside.clear();
    }
  }
}

}  // namespace
}  // namespace mpsd
