#include "server/supervise/slab_announcer.h"

#include <gmock/gmock.h>

#include <map>

#include "server/pool/batch/slab_sizing.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A pool without room, and workers who say what they were told.
class SlabAnnouncerTest : public PoolFixture {
 protected:
  static constexpr uint64_t kRowBytes = 64 << 10;

  class NoFiller final : public RowFiller {
   public:
    void Fill(const ModelSpec&, const Request&, const RowTargets&) const override {}
  };

  SlabAnnouncerTest() {
    model_.spec.max_batch_size = 0;
    model_.spec.inputs[0].dims = model_.spec.outputs[0].dims = {kRowBytes / sizeof(float)};
    MakePool({}, kRowBytes + platform::PageBytes());  // one row
    announcer_ = std::make_unique<SlabAnnouncer>(pool_.get(), &budget_, "m");
    Submit(1);
  }

  // One that has its order, and warms up.
  WorkerLink* AttachCold(uint32_t index) {
    AddWorker(index);
    WorkerLink* link = workers_.back().link.get();
    announcer_->Attach(link, [this, link](const Message& message, absl::Span<const int> fds) {
      if (const auto* added = std::get_if<SlabsAdded>(&message)) {
        EXPECT_EQ(fds.size(), 1u);
        added_[link].push_back(added->number);
      }
      if (const auto* removed = std::get_if<SlabsRemoved>(&message)) {
        removed_[link].push_back(removed->number);
      }
      return absl::OkStatus();
    });
    return link;
  }

  WorkerLink* Attach(uint32_t index) {
    WorkerLink* link = AttachCold(index);
    announcer_->Serve(link);
    return link;
  }

  // A request for which there is no room.
  FakeCall* Wait() {
    FakeCall* call = NewCall();
    call->request.filler = &filler_;
    RowTargets targets;
    EXPECT_TRUE(pool_->Reserve(&call->request, &targets).ok());
    EXPECT_TRUE(targets.later);
    return call;
  }

  std::vector<const WorkerLink*> Tick(bool warm = true) {
    own_ns_ += SlabAnnouncer::kLookNs;
    return announcer_->Tick([warm](const WorkerLink*) { return warm; }, own_ns_);
  }

  void TearDown() override {
    for (FakeCall& call : calls_) pool_->Cancel(&call.request);
    while (!workers_.empty()) Kill(workers_.front().link->worker(), WorkerEnd::kKilled);
    PoolFixture::TearDown();
  }

  NoFiller filler_;
  MemoryBudget budget_{64 << 20};
  int64_t own_ns_ = 0;
  std::unique_ptr<SlabAnnouncer> announcer_;
  std::map<const WorkerLink*, std::vector<uint32_t>> added_;
  std::map<const WorkerLink*, std::vector<uint32_t>> removed_;
};

TEST_F(SlabAnnouncerTest, ASegmentServesOnceEveryWorkerHasMappedIt) {
  WorkerLink* first = Attach(0);
  WorkerLink* second = Attach(1);
  EXPECT_TRUE(announcer_->HasMappedAll(first));
  FakeCall* call = Wait();
  Tick();
  EXPECT_THAT(added_[first], ElementsAre(1));
  EXPECT_THAT(added_[second], ElementsAre(1));
  EXPECT_FALSE(announcer_->HasMappedAll(first));
  EXPECT_EQ(pool_->memory()->Descriptors().size(), 1u);
  EXPECT_TRUE(announcer_->Take(first, SlabsMapped{1}).ok());
  EXPECT_TRUE(announcer_->HasMappedAll(first));
  EXPECT_EQ(call->request.state, RequestState::kWaiting) << "the second has not said so";
  EXPECT_TRUE(announcer_->Take(second, SlabsMapped{1}).ok());
  EXPECT_EQ(pool_->memory()->Descriptors().size(), 2u);
  EXPECT_NE(call->request.state, RequestState::kWaiting);
  EXPECT_EQ(budget_.taken_bytes(), pool_->memory()->Descriptors()[1].bytes);
}

TEST_F(SlabAnnouncerTest, WithoutAWorkerItServesAtOnce) {
  Wait();
  Tick();
  EXPECT_EQ(pool_->memory()->Descriptors().size(), 2u);
}

TEST_F(SlabAnnouncerTest, AWorkerThatDiesIsOutOfTheCount) {
  WorkerLink* first = Attach(0);
  WorkerLink* second = Attach(1);
  Wait();
  Tick();
  EXPECT_TRUE(announcer_->Take(first, SlabsMapped{1}).ok());
  announcer_->Detach(second);
  EXPECT_EQ(pool_->memory()->Descriptors().size(), 2u);
}

TEST_F(SlabAnnouncerTest, AWorkerThatComesLaterIsToldOfAllAndMayThenServe) {
  Wait();
  Tick();
  ASSERT_EQ(pool_->memory()->Descriptors().size(), 2u);
  WorkerLink* late = AttachCold(0);
  EXPECT_THAT(added_[late], ElementsAre(1));
  EXPECT_FALSE(announcer_->HasMappedAll(late));
  EXPECT_TRUE(announcer_->Take(late, SlabsMapped{1}).ok());
  EXPECT_TRUE(announcer_->HasMappedAll(late));
}

TEST_F(SlabAnnouncerTest, AWorkerThatComesWhileOneIsAnnouncedIsNotWaitedFor) {
  WorkerLink* first = Attach(0);
  FakeCall* call = Wait();
  Tick();
  WorkerLink* late = AttachCold(1);
  EXPECT_THAT(added_[late], ElementsAre(1));
  EXPECT_TRUE(announcer_->Take(first, SlabsMapped{1}).ok());
  EXPECT_EQ(pool_->memory()->Descriptors().size(), 2u) << "it may warm up for minutes";
  EXPECT_NE(call->request.state, RequestState::kWaiting);
  EXPECT_FALSE(announcer_->HasMappedAll(late)) << "it may not serve before it has mapped it";
  EXPECT_TRUE(announcer_->Take(late, SlabsMapped{1}).ok());
  EXPECT_TRUE(announcer_->HasMappedAll(late));
}

TEST_F(SlabAnnouncerTest, ThePoolGrowsWhileAWorkerWarmsUp) {
  WorkerLink* first = Attach(0);
  WorkerLink* cold = AttachCold(1);
  Wait();
  Tick();
  EXPECT_THAT(added_[cold], ElementsAre(1));
  EXPECT_TRUE(announcer_->Take(first, SlabsMapped{1}).ok());
  EXPECT_EQ(pool_->memory()->Descriptors().size(), 2u);
  EXPECT_TRUE(announcer_->Take(cold, SlabsMapped{1}).ok());
  EXPECT_TRUE(announcer_->HasMappedAll(cold));
}

TEST_F(SlabAnnouncerTest, LooksMoreOftenDoNotCount) {
  WorkerLink* worker = Attach(0);
  FakeCall* call = Wait();
  Tick();
  ASSERT_TRUE(announcer_->Take(worker, SlabsMapped{1}).ok());
  workers_[0].side->AddSlabs(pool_->memory()->Descriptors()[1]);
  Serve(workers_[0].side.get());
  ASSERT_EQ(call->endings(), 1);
  for (uint32_t i = 0; i < 10 * SlabAnnouncer::kIdleLooks; ++i) {
    announcer_->Tick([](const WorkerLink*) { return true; }, own_ns_);
  }
  EXPECT_THAT(removed_[worker], IsEmpty());
  for (uint32_t i = 0; i <= SlabAnnouncer::kIdleLooks; ++i) Tick();
  EXPECT_THAT(removed_[worker], ElementsAre(1));
}

TEST_F(SlabAnnouncerTest, AnIdleSegmentGoesOnceEveryWorkerHasLetGo) {
  WorkerLink* first = Attach(0);
  WorkerLink* second = Attach(1);
  FakeCall* call = Wait();
  Tick();
  for (WorkerLink* link : {first, second}) {
    ASSERT_TRUE(announcer_->Take(link, SlabsMapped{1}).ok());
  }
  for (const Worker& worker : workers_) worker.side->AddSlabs(pool_->memory()->Descriptors()[1]);
  Serve(workers_[1].side.get());
  ASSERT_EQ(call->endings(), 1);
  const uint64_t taken_bytes = budget_.taken_bytes();
  for (uint32_t i = 0; i + 1 < SlabAnnouncer::kIdleLooks; ++i) Tick();
  EXPECT_THAT(removed_[first], IsEmpty());
  for (uint32_t i = 0; i < 2; ++i) Tick();
  EXPECT_THAT(removed_[first], ElementsAre(1));
  EXPECT_THAT(removed_[second], ElementsAre(1));
  EXPECT_TRUE(announcer_->Take(second, SlabsUnmapped{1}).ok());
  EXPECT_EQ(budget_.taken_bytes(), taken_bytes);
  Wait();
  Tick();
  EXPECT_THAT(added_[first], ElementsAre(1, 2)) << "a number is used again only when it is free";
  EXPECT_TRUE(announcer_->Take(first, SlabsUnmapped{1}).ok());
  EXPECT_EQ(pool_->memory()->Descriptors().size(), 1u) << "the second is announced only";
}

TEST_F(SlabAnnouncerTest, AnswersToNoQuestionAreRefused) {
  WorkerLink* worker = Attach(0);
  EXPECT_FALSE(announcer_->Take(worker, SlabsMapped{1}).ok());
  EXPECT_FALSE(announcer_->Take(worker, SlabsMapped{0}).ok());
  EXPECT_FALSE(announcer_->Take(worker, SlabsMapped{kMaxSlabSegments}).ok());
  EXPECT_FALSE(announcer_->Take(worker, SlabsUnmapped{UINT32_MAX}).ok());
  EXPECT_FALSE(announcer_->Take(worker, Ready{}).ok());
  Wait();
  Tick();
  EXPECT_FALSE(announcer_->Take(worker, SlabsUnmapped{1}).ok());
  EXPECT_FALSE(announcer_->Take(nullptr, SlabsMapped{1}).ok());
  EXPECT_TRUE(announcer_->Take(worker, SlabsMapped{1}).ok());
  EXPECT_FALSE(announcer_->Take(worker, SlabsMapped{1}).ok()) << "twice";
}

TEST_F(SlabAnnouncerTest, BeyondTheBudgetWhoWaitsIsRefused) {
  ASSERT_TRUE(budget_.Take(63 << 20, "others").ok());
  FakeCall* call = Wait();
  Tick();
  EXPECT_TRUE(absl::IsResourceExhausted(call->status()));
  EXPECT_EQ(budget_.taken_bytes(), 63ULL << 20);
}

TEST_F(SlabAnnouncerTest, AWorkerThatNeverAnswersIsGivenUp) {
  WorkerLink* worker = Attach(0);
  Wait();
  constexpr int64_t kLooks = SlabAnnouncer::kPatienceNs / SlabAnnouncer::kLookNs;
  for (int64_t i = 0; i < 2 * kLooks; ++i) {
    EXPECT_THAT(Tick(/*warm=*/false), IsEmpty()) << "it warms up";
  }
  for (int64_t i = 0; i < kLooks; ++i) EXPECT_THAT(Tick(), IsEmpty());
  EXPECT_THAT(Tick(), ElementsAre(worker));
  EXPECT_THAT(Tick(), IsEmpty()) << "once";
}

}  // namespace
}  // namespace mpsd
