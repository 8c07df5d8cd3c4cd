#include "server/compose/child_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/fakes/recording_reply_sink.h"

namespace mpsd {
namespace {

// Has the children until the test ends them. A child that is cancelled ends at once.
class ChildPool final : public RequestQueue {
 public:
  absl::Status Reserve(Request* request, RowTargets* targets) override {
    if (cancel_first != nullptr) std::exchange(cancel_first, nullptr)->Cancel();
    if (is_full) return absl::ResourceExhaustedError("full");
    request->queue = this;
    targets->later = true;
    return absl::OkStatus();
  }
  void Cancel(Request* request) override {
    ++cancelled;
    if (request->reply.owed()) request->reply.Fail(absl::CancelledError("cancelled"));
  }
  void Close() override {}

  bool is_full = false;
  ChildRequest* cancel_first = nullptr;  // before the next one is reserved
  int cancelled = 0;
};

// Answers once its children have. The table is the test's.
class TestRun final : public ChildRun {
 public:
  TestRun(Request* whole, RunTable* table) : ChildRun(whole, table) {
    for (uint32_t i = 0; i < 3; ++i) children.push_back(std::make_unique<ChildRequest>(this, i));
  }

  // False if the child may not begin.
  bool Begin(size_t child, RequestQueue* pool) {
    {
      absl::MutexLock lock(&mu_);
      if (!NoteBegun(children[child].get())) return false;
    }
    const absl::Status status = children[child]->Reserve(pool);
    if (!status.ok()) Close(children[child].get(), status);
    return true;
  }
  void AllBegun() { CloseBeginning(); }

  // The request has its answer now, although threads are still inside.
  void EndEarly() {
    {
      absl::MutexLock lock(&mu_);
      is_over_ = true;
    }
    Give();
  }

  std::vector<std::unique_ptr<ChildRequest>> children;
  int given = 0;

 private:
  void ChildAnswered(ChildRequest* child, const Answer&) override {
    Close(child, absl::OkStatus());
  }
  void Give() override {
    ++given;
    Send(Answer());
  }
};

class ChildRunTest : public testing::Test {
 protected:
  ChildRunTest() {
    request_.model = model_;
    request_.reply = Reply(&sink_);
    run_ = std::make_shared<TestRun>(&request_, &table_);
    EXPECT_TRUE(table_.Enter(&request_, 7, run_).ok());
  }

  void Answer(size_t child) { run_->children[child]->request()->reply.Send(mpsd::Answer()); }
  void Fail(size_t child, const absl::Status& status) {
    run_->children[child]->request()->reply.Fail(status);
  }

  const std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  std::atomic<int64_t> inside_{0};
  ChildPool pool_;
  RunTable table_{&pool_, RunBounds{2, 10}, &inside_};
  RecordingReplySink sink_;
  Request request_;
  std::shared_ptr<TestRun> run_;
};

TEST_F(ChildRunTest, EndsOnceWithItsLastChild) {
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(run_->Begin(i, &pool_));
  EXPECT_EQ(inside_, 1);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sink_.endings(), 0);
    Answer(i);
    if (i == 1) run_->AllBegun();
  }
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_TRUE(sink_.status().ok());
  EXPECT_TRUE(request_.is_answered);
  EXPECT_EQ(inside_, 0);
}

TEST_F(ChildRunTest, DoesNotEndWhileItBegins) {
  EXPECT_TRUE(run_->Begin(0, &pool_));
  Answer(0);
  EXPECT_EQ(sink_.endings(), 0);
  run_->AllBegun();
  EXPECT_EQ(sink_.endings(), 1);
}

TEST_F(ChildRunTest, TheFirstFaultCancelsTheOthersAndIsTheEnding) {
  EXPECT_TRUE(run_->Begin(0, &pool_));
  EXPECT_TRUE(run_->Begin(1, &pool_));
  Fail(1, absl::InternalError("first"));
  EXPECT_FALSE(run_->children[0]->request()->reply.owed());
  EXPECT_FALSE(run_->Begin(2, &pool_));
  EXPECT_EQ(sink_.endings(), 0);
  run_->AllBegun();
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_EQ(sink_.status(), absl::InternalError("first"));
  EXPECT_EQ(run_->given, 0);
  EXPECT_FALSE(request_.is_answered);
}

TEST_F(ChildRunTest, ARefusedChildIsAFault) {
  EXPECT_TRUE(run_->Begin(0, &pool_));
  pool_.is_full = true;
  EXPECT_TRUE(run_->Begin(1, &pool_));
  EXPECT_FALSE(run_->children[0]->request()->reply.owed());
  run_->AllBegun();
  EXPECT_EQ(sink_.status(), absl::ResourceExhaustedError("full"));
}

TEST_F(ChildRunTest, ACancelledRequestEndsWithItsChildren) {
  EXPECT_TRUE(run_->Begin(0, &pool_));
  run_->AllBegun();
  table_.Cancel(&request_, absl::CancelledError("left"));
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_EQ(sink_.status(), absl::CancelledError("left"));
  table_.Cancel(&request_, absl::CancelledError("again"));
  EXPECT_EQ(sink_.endings(), 1);
}

TEST_F(ChildRunTest, AChildThatIsCancelledTooEarlyIsCancelledInItsQueue) {
  pool_.cancel_first = run_->children[0].get();
  EXPECT_TRUE(run_->Begin(0, &pool_));
  EXPECT_FALSE(run_->children[0]->request()->reply.owed());
  run_->AllBegun();
  EXPECT_EQ(sink_.status(), absl::CancelledError("cancelled"));
}

TEST_F(ChildRunTest, AnEarlyAnswerIsTheOnlyEnding) {
  EXPECT_TRUE(run_->Begin(0, &pool_));
  run_->EndEarly();
  run_->Cancel(absl::CancelledError("left"));
  Answer(0);
  run_->AllBegun();
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_TRUE(sink_.status().ok());
  EXPECT_EQ(pool_.cancelled, 0);
}

TEST_F(ChildRunTest, TheTableBoundsWhatIsInside) {
  Request other;
  other.model = model_;
  const auto run = std::make_shared<TestRun>(&other, &table_);
  EXPECT_EQ(table_.Enter(&other, 4, run).message(), "Exceeds maximum queue size");
  EXPECT_TRUE(table_.Enter(&other, 3, run).ok());
  Request third;
  third.model = model_;
  EXPECT_TRUE(absl::IsResourceExhausted(
      table_.Enter(&third, 0, std::make_shared<TestRun>(&third, &table_))));
  table_.Leave(&other);
  EXPECT_TRUE(table_.Enter(&third, 3, run).ok());
  table_.Leave(&third);
  table_.Close();
  EXPECT_TRUE(absl::IsAborted(table_.Enter(&third, 0, run)));
  run_->AllBegun();
  EXPECT_EQ(inside_, 0);
}

}  // namespace
}  // namespace mpsd
