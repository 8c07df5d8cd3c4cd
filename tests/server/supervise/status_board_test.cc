#include "server/supervise/status_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

class StatusBoardTest : public testing::Test {
 protected:
  StatusBoardTest() {
    for (ServedModel* model : {&old_, &new_, &other_}) {
      model->name = model == &other_ ? "other" : "m";
      board_.Open(*model);
    }
  }

  void PublishServing(const ServedModel& model, uint32_t index, bool serves) {
    StatusBoard::WorkerNote note;
    note.info.index = index;
    note.serves = serves;
    board_.Publish(model, note);
  }

  void PublishDeath(const ServedModel& model, uint32_t index, const std::string& last_words) {
    StatusBoard::WorkerNote note;
    note.info.index = index;
    note.info.last_exit = "exit 1";
    note.info.last_words = last_words;
    board_.Publish(model, note);
  }

  void Publish(const ServedModel& model, uint32_t index, int64_t starts_at_ns = -1) {
    StatusBoard::WorkerNote note;
    note.info.index = index;
    note.starts_at_ns = starts_at_ns;
    board_.Publish(model, note);
  }

  static bool Never() { return false; }
  static bool AtOnce() { return true; }

  FakeClock clock_;
  StatusBoard board_{&clock_};
  ServedModel old_;
  ServedModel new_;
  ServedModel other_;
};

TEST_F(StatusBoardTest, TellsWorkersInTheirOrderAndWhenTheyStart) {
  Publish(old_, 1, clock_.NowNs() + 2500 * kNsPerMs);
  Publish(old_, 0);
  std::vector<WorkerInfo> workers = board_.Workers(old_);
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].index, 0u);
  EXPECT_EQ(workers[0].starts_in_ms, -1);
  EXPECT_EQ(workers[1].starts_in_ms, 2500);
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(board_.Workers(old_)[1].starts_in_ms, 1500);
  board_.Remove(old_, 0);
  EXPECT_EQ(board_.Workers(old_).size(), 1u);
}

TEST_F(StatusBoardTest, AFaultIsWhyNoWorkerServes) {
  EXPECT_TRUE(board_.Fault(new_).ok()) << "its first start is on its way";
  const absl::Status no_file = absl::InternalError("there is no file");
  board_.NoteOutcome(new_, no_file);
  EXPECT_EQ(board_.Fault(new_), no_file);
  board_.NoteOutcome(new_, absl::OkStatus());
  PublishServing(new_, 0, /*serves=*/true);
  PublishDeath(new_, 1, "a line that the model wrote");
  board_.NoteOutcome(new_, absl::InternalError("it died: exit 1"));
  EXPECT_TRUE(board_.Fault(new_).ok()) << "one serves";
  PublishServing(new_, 0, /*serves=*/false);
  EXPECT_EQ(board_.Fault(new_), absl::InternalError("it died: exit 1")) << "the last word";
  board_.PublishCircuit(new_, "open");
  EXPECT_EQ(board_.Fault(new_).message(),
            "its workers may not start for a while; the last: it died: exit 1");
  board_.PublishCircuit(new_, "probing");
  EXPECT_EQ(board_.Fault(new_), absl::InternalError("it died: exit 1"));
  board_.Forget(new_);
  EXPECT_TRUE(board_.Fault(new_).ok());
}

TEST_F(StatusBoardTest, TellsTheOtherGenerationsOfAModel) {
  Publish(new_, 0);
  const std::vector<OtherGeneration> others = board_.Others(old_);
  ASSERT_EQ(others.size(), 1u) << "a model of another name is none";
  EXPECT_EQ(others[0].state, "loading");
  EXPECT_EQ(others[0].workers.size(), 1u);
  board_.PublishRetired(old_);
  EXPECT_EQ(board_.Others(new_)[0].state, "draining");
  board_.Forget(old_);
  EXPECT_TRUE(board_.Others(new_).empty());
}

TEST_F(StatusBoardTest, IsSettledWhenEveryModelIs) {
  board_.NoteOutcome(old_, absl::OkStatus());
  board_.NoteOutcome(other_, absl::InternalError("it died"));
  EXPECT_TRUE(board_.WaitUntilSettled(AtOnce).ok()) << "whoever gives up is not told of an error";
  board_.NoteOutcome(new_, absl::OkStatus());
  EXPECT_TRUE(board_.WaitUntilSettled(Never).ok());
}

TEST_F(StatusBoardTest, NamesTheModelsThatAreNotSettled) {
  EXPECT_EQ(board_.Unsettled(), (std::vector<std::string>{"m", "m", "other"}));
  board_.NoteOutcome(new_, absl::InternalError("exit 1"));
  board_.NoteOutcome(other_, absl::OkStatus());
  EXPECT_EQ(board_.Unsettled(), std::vector<std::string>{"m"});
}

TEST_F(StatusBoardTest, TheFirstEndOfAStartIsTheOne) {
  board_.NoteOutcome(old_, absl::InternalError("it died"));
  board_.NoteOutcome(old_, absl::OkStatus());
  EXPECT_EQ(board_.WaitUntilServing(old_, Never).message(), "it died");
  EXPECT_EQ(board_.WaitUntilServing(new_, AtOnce).code(), absl::StatusCode::kCancelled);
  board_.Forget(new_);
  EXPECT_EQ(board_.WaitUntilServing(new_, Never).code(), absl::StatusCode::kCancelled);
}

TEST_F(StatusBoardTest, AModelServesWhenAllItsWorkersDo) {
  PublishServing(old_, 0, true);
  PublishServing(old_, 1, false);
  board_.NoteOutcome(old_, absl::OkStatus());
  std::atomic<bool> was_asked{false};
  const auto give_up = [&was_asked] {
    was_asked = true;
    return false;
  };
  std::atomic<bool> is_over{false};
  std::thread waiter([&] {
    EXPECT_TRUE(board_.WaitUntilServing(old_, give_up).ok());
    is_over = true;
  });
  while (!was_asked) std::this_thread::yield();
  EXPECT_FALSE(is_over) << "one of two workers is on its way";
  PublishServing(old_, 1, true);
  waiter.join();
}

TEST_F(StatusBoardTest, AWorkerThatDiesBeforeAllServeIsTheOutcome) {
  PublishServing(old_, 0, true);
  board_.NoteOutcome(old_, absl::OkStatus());
  PublishDeath(old_, 1, "no such file");
  EXPECT_EQ(board_.WaitUntilServing(old_, Never).message(), "no such file");
  PublishDeath(old_, 1, "");
  EXPECT_EQ(board_.WaitUntilServing(old_, Never).message(), "exit 1");
  PublishServing(old_, 1, true);
  EXPECT_TRUE(board_.WaitUntilServing(old_, Never).ok()) << "it serves by now";
}

TEST_F(StatusBoardTest, WhereNoModelFitsTheWaitSaysWhy) {
  for (const ServedModel* model : {&old_, &new_, &other_}) {
    board_.FailMemory(*model, absl::ResourceExhaustedError("too much"));
    board_.NoteOutcome(*model, absl::InternalError("killed"));
  }
  EXPECT_EQ(board_.WaitUntilSettled(Never).message(), "too much");
}

TEST_F(StatusBoardTest, AModelThatDoesNotFitKeepsNoOtherFromServing) {
  board_.FailMemory(old_, absl::ResourceExhaustedError("too much"));
  board_.NoteOutcome(old_, absl::InternalError("killed"));
  board_.NoteOutcome(new_, absl::OkStatus());
  board_.NoteOutcome(other_, absl::InternalError("no such file"));
  EXPECT_TRUE(board_.WaitUntilSettled(Never).ok());
}

TEST_F(StatusBoardTest, AModelThatServesWithFewerWorkersFits) {
  board_.NoteOutcome(new_, absl::OkStatus());
  for (const ServedModel* model : {&old_, &new_, &other_}) {
    board_.FailMemory(*model, absl::ResourceExhaustedError("too much"));
    board_.NoteOutcome(*model, absl::InternalError("killed"));
  }
  EXPECT_TRUE(board_.WaitUntilSettled(Never).ok());
}

}  // namespace
}  // namespace mpsd
