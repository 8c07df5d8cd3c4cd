#include "server/exchange/answer_lines.h"

#include <gmock/gmock.h>

#include <deque>
#include <string>
#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct FakeRequest {
  int number = 0;
  bool answered = false;
  size_t line = 0;
  FakeRequest* next = nullptr;
};

class AnswerLinesTest : public testing::Test {
 protected:
  // Requests are numbered in the order in which they join.
  void Join(const std::string& model) {
    FakeRequest& request = requests_.emplace_back();
    request.number = static_cast<int>(requests_.size()) - 1;
    lines_.Join(model, &request);
  }

  // The numbers that leave.
  std::vector<int> Answer(size_t number) {
    std::vector<int> leaving;
    for (FakeRequest* request = lines_.Answered(&requests_[number]); request != nullptr;
         request = request->next) {
      leaving.push_back(request->number);
    }
    return leaving;
  }

  std::vector<int> Leave(size_t number) {
    std::vector<int> leaving;
    for (FakeRequest* request = lines_.Leave(&requests_[number]); request != nullptr;
         request = request->next) {
      leaving.push_back(request->number);
    }
    return leaving;
  }

  std::deque<FakeRequest> requests_;
  AnswerLines<FakeRequest> lines_;
};

TEST_F(AnswerLinesTest, AnswersInOrderLeaveAtOnce) {
  Join("m");
  Join("m");
  EXPECT_THAT(Answer(0), ElementsAre(0));
  EXPECT_THAT(Answer(1), ElementsAre(1));
}

TEST_F(AnswerLinesTest, AnAnswerWaitsForThoseBeforeIt) {
  for (int i = 0; i < 4; ++i) Join("m");
  EXPECT_THAT(Answer(2), IsEmpty());
  EXPECT_THAT(Answer(1), IsEmpty());
  EXPECT_THAT(Answer(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(Answer(3), ElementsAre(3));
}

TEST_F(AnswerLinesTest, NobodyWaitsForOneThatHasLeft) {
  for (int i = 0; i < 4; ++i) Join("m");
  EXPECT_THAT(Answer(1), IsEmpty());
  EXPECT_THAT(Leave(2), IsEmpty());
  EXPECT_THAT(Leave(0), ElementsAre(1));
  EXPECT_EQ(requests_[0].next, nullptr);
  EXPECT_THAT(Leave(3), IsEmpty());
  Join("m");
  EXPECT_THAT(Answer(4), ElementsAre(4)) << "the line was empty";
}

TEST_F(AnswerLinesTest, OneModelDoesNotWaitForAnother) {
  Join("slow");
  Join("fast");
  Join("slow");
  EXPECT_THAT(Answer(1), ElementsAre(1));
  EXPECT_THAT(Answer(2), IsEmpty());
  EXPECT_THAT(Answer(0), ElementsAre(0, 2));
}

TEST_F(AnswerLinesTest, AnEmptyLineIsUsedAgain) {
  for (int i = 0; i < 100; ++i) {
    Join("m" + std::to_string(i));
    EXPECT_THAT(Answer(static_cast<size_t>(i)), ElementsAre(i));
  }
  EXPECT_EQ(lines_.line_count(), 1u);
}

TEST_F(AnswerLinesTest, ALineThatIsTakenByAnotherModelLosesNobody) {
  Join("a");
  Join("b");
  EXPECT_THAT(Answer(0), ElementsAre(0));
  Join("c");
  Join("b");
  EXPECT_THAT(Answer(3), IsEmpty());
  EXPECT_THAT(Answer(2), ElementsAre(2));
  EXPECT_THAT(Answer(1), ElementsAre(1, 3));
}

}  // namespace
}  // namespace mpsd
