#include "worker/libtorch/stream_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace mpsd {
namespace {

using ::testing::IsNull;
using ::testing::Not;

// Plain numbers: the thread sanitizer sees two threads on one stream, unless the pool is between.
struct FakeStream {
  explicit FakeStream(int number) : index(number) {}
  const int index;
  int queued = 0;  // work that nobody has waited for
  bool waits_fail = false;
};
using Pool = StreamPool<FakeStream>;

thread_local bool on_main_thread = false;

// A pool of fakes. The test's own thread never has a stream, since it outlives the pool.
class StreamPoolTest : public ::testing::Test {
 protected:
  StreamMaker<FakeStream> Maker() {
    return {[this](int index) {
              if (makes_fail_) throw std::runtime_error("no memory for a stream");
              made_.push_back(index);
              return std::make_unique<FakeStream>(index);
            },
            [](FakeStream& stream) {
              if (stream.waits_fail) throw std::runtime_error("the device is lost");
              stream.queued = 0;
            },
            [] { return on_main_thread; }};
  }

  // Runs `work` on a thread of its own until it ends.
  template <typename Work>
  static void OnThread(Work work) {
    std::thread(work).join();
  }

  // The index of the stream that a new thread gets, and gives back; kNone where it gets none.
  int IndexOnThread() {
    int index = Pool::kNone;
    OnThread([&] {
      pool_.Current();
      index = pool_.Held();
    });
    return index;
  }

  // A pool that is patient where all streams are taken.
  StreamMaker<FakeStream> PatientMaker(std::chrono::milliseconds patience) {
    StreamMaker<FakeStream> maker = Maker();
    maker.patience = patience;
    return maker;
  }

  bool makes_fail_ = false;
  std::vector<int> made_;
  Pool pool_{Maker()};
};

// Threads that each have a stream until this ends.
class Holders {
 public:
  Holders(Pool* pool, int count) : ready_(count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, pool] {
        FakeStream* stream = pool->Current();
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          indexes_.insert(stream == nullptr ? Pool::kNone : stream->index);
        }
        ready_.count_down();
        end_.wait();
      });
    }
    ready_.wait();
  }
  ~Holders() {
    end_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }
  const std::multiset<int>& indexes() const { return indexes_; }

 private:
  std::latch ready_;
  std::latch end_{1};
  std::mutex mutex_;
  std::multiset<int> indexes_;
  std::vector<std::thread> threads_;
};

TEST_F(StreamPoolTest, TheMainThreadHasStreamZero) {
  OnThread([&] {
    on_main_thread = true;
    EXPECT_EQ(pool_.Current()->index, 0);
    EXPECT_EQ(pool_.Current(), pool_.At(0));
  });
  EXPECT_EQ(pool_.InUse(), 1) << "whose end is the process's";
}

TEST_F(StreamPoolTest, EachOtherThreadHasOneOfItsOwn) {
  const Holders holders(&pool_, 31);
  std::multiset<int> expected;
  for (int i = 1; i < Pool::kStreams; ++i) expected.insert(i);
  EXPECT_EQ(holders.indexes(), expected);
  EXPECT_EQ(pool_.InUse(), 31);
}

TEST_F(StreamPoolTest, TheThirtySecondOtherThreadGetsNoneUntilAnotherEnds) {
  {
    const Holders holders(&pool_, 31);
    EXPECT_EQ(IndexOnThread(), Pool::kNone);
    OnThread([&] {
      on_main_thread = true;
      EXPECT_THAT(pool_.Current(), Not(IsNull())) << "no other thread has the main one's";
    });
  }
  EXPECT_EQ(IndexOnThread(), 1);
}

TEST_F(StreamPoolTest, AThreadThatGotNoneMayAskAgain) {
  auto holders = std::make_unique<Holders>(&pool_, 31);
  OnThread([&] {
    EXPECT_THAT(pool_.Current(), IsNull());
    holders.reset();
    EXPECT_THAT(pool_.Current(), Not(IsNull()));
  });
}

TEST_F(StreamPoolTest, APatientThreadHasTheFirstStreamThatIsGivenBack) {
  Pool patient(PatientMaker(std::chrono::milliseconds(-1)));
  auto holders = std::make_unique<Holders>(&patient, 31);
  std::thread late([&] { EXPECT_THAT(patient.Current(), Not(IsNull())); });
  holders.reset();
  late.join();
}

TEST_F(StreamPoolTest, PatienceWithALimitEndsWithoutAStream) {
  Pool patient(PatientMaker(std::chrono::milliseconds(1)));
  const Holders holders(&patient, 31);
  OnThread([&] { EXPECT_THAT(patient.Current(), IsNull()); });
}

TEST_F(StreamPoolTest, AStreamIsWaitedForBeforeAnotherThreadHasIt) {
  OnThread([&] { pool_.Current()->queued = 1; });
  OnThread([&] {
    EXPECT_EQ(pool_.Current()->index, 1) << "the same one";
    EXPECT_EQ(pool_.Current()->queued, 0);
  });
}

TEST_F(StreamPoolTest, ThirtyOneThreadsTimesHundredNeverMeet) {
  std::vector<std::thread> lines;
  for (int line = 0; line < 31; ++line) {
    lines.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        OnThread([&] {
          FakeStream* stream = pool_.Current();
          ASSERT_THAT(stream, Not(IsNull()));
          EXPECT_EQ(std::exchange(stream->queued, round + 1), 0);
          std::this_thread::yield();
          EXPECT_EQ(pool_.Current()->queued, round + 1);
        });
      }
    });
  }
  for (std::thread& line : lines) line.join();
  EXPECT_EQ(pool_.InUse(), 0);
}

TEST_F(StreamPoolTest, NoMoreStreamsAreMadeThanThreadsHaveAtATime) {
  for (int i = 0; i < 5; ++i) IndexOnThread();
  EXPECT_THAT(made_, ::testing::ElementsAre(1));
  EXPECT_EQ(pool_.Made().size(), 1U);
}

TEST_F(StreamPoolTest, AStreamIsMadeOnceHoweverManyAskForIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(pool_.At(7)->index, 7); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(made_, ::testing::ElementsAre(7));
}

TEST_F(StreamPoolTest, AnIndexOutOfRangeIsRefused) {
  EXPECT_THAT(pool_.At(-1), IsNull());
  EXPECT_THAT(pool_.At(32), IsNull());
  OnThread([&] {
    FakeStream* stream = pool_.Current();
    EXPECT_FALSE(pool_.MakeCurrent(-1));
    EXPECT_FALSE(pool_.MakeCurrent(32));
    EXPECT_EQ(pool_.Current(), stream);
  });
}

TEST_F(StreamPoolTest, AThreadThatTakesAnotherLeavesTheOneBeforeAfterAWait) {
  OnThread([&] {
    pool_.Current()->queued = 1;
    EXPECT_TRUE(pool_.MakeCurrent(9));
    EXPECT_EQ(pool_.Current()->index, 9);
    EXPECT_EQ(pool_.Held(), 9);
    EXPECT_EQ(pool_.At(1)->queued, 0);
    EXPECT_EQ(IndexOnThread(), 1) << "it is free";
    EXPECT_TRUE(pool_.MakeCurrent(9)) << "its own";
    EXPECT_EQ(pool_.InUse(), 1);
  });
  EXPECT_EQ(pool_.InUse(), 0);
}

TEST_F(StreamPoolTest, ASharedStreamIsFreeWhenTheLastOneLeaves) {
  OnThread([&] {
    pool_.Current();
    OnThread([&] { EXPECT_TRUE(pool_.MakeCurrent(1)); });
    EXPECT_EQ(IndexOnThread(), 2) << "its first owner still has it";
  });
  EXPECT_EQ(IndexOnThread(), 1);
}

TEST_F(StreamPoolTest, NextGoesRoundThoseThatAreFree) {
  EXPECT_EQ(pool_.Next(), 1);
  EXPECT_EQ(pool_.Next(), 2);
  for (int i = 3; i < Pool::kStreams; ++i) pool_.Next();
  OnThread([&] {
    pool_.Current();
    EXPECT_EQ(pool_.Next(), 2) << "this thread has 1";
  });
  const Holders holders(&pool_, 31);
  std::set<int> shared;
  for (int i = 0; i < 31; ++i) shared.insert(pool_.Next());
  EXPECT_EQ(shared.size(), 31U);
  EXPECT_EQ(shared.count(Pool::kMain), 0U);
}

TEST_F(StreamPoolTest, ToAskWhichStreamAThreadHasGivesItNone) {
  OnThread([&] { EXPECT_EQ(pool_.Held(), Pool::kNone); });
  EXPECT_THAT(made_, ::testing::IsEmpty());
}

TEST_F(StreamPoolTest, AStreamThatCannotBeMadeIsNotTaken) {
  makes_fail_ = true;
  OnThread([&] {
    EXPECT_THROW(pool_.Current(), std::runtime_error);
    EXPECT_THROW(pool_.MakeCurrent(4), std::runtime_error);
    on_main_thread = true;
    EXPECT_THROW(pool_.Current(), std::runtime_error);
  });
  EXPECT_EQ(pool_.InUse(), 0);
  makes_fail_ = false;
  EXPECT_EQ(IndexOnThread(), 1);
}

TEST_F(StreamPoolTest, AStreamWhoseWaitFailsIsLost) {
  OnThread([&] { pool_.Current()->waits_fail = true; });
  EXPECT_EQ(IndexOnThread(), 2);
  OnThread([&] {
    pool_.MakeCurrent(3);
    pool_.Current()->waits_fail = true;
    EXPECT_THROW(pool_.MakeCurrent(4), std::runtime_error);
    EXPECT_EQ(pool_.Current()->index, 4);
  });
  EXPECT_EQ(pool_.InUse(), 2) << "the lost ones";
}

TEST_F(StreamPoolTest, ALoanIsOverWithItsScope) {
  OnThread([&] {
    FakeStream* own = pool_.Current();
    OnThread([&] {
      {
        const Pool::Loan loan(own, own->index);
        EXPECT_EQ(pool_.Current(), own);
        EXPECT_EQ(pool_.Held(), own->index);
      }
      EXPECT_EQ(pool_.Held(), Pool::kNone);
    });
    EXPECT_EQ(pool_.InUse(), 1) << "the lender's";
  });
}

// Asks for a stream as its thread ends.
struct LateAsker {
  Pool* pool = nullptr;
  bool* got_one = nullptr;
  ~LateAsker() { *got_one = pool->Current() != nullptr || pool->MakeCurrent(5); }
};

TEST_F(StreamPoolTest, AThreadThatHasGivenItsStreamBackGetsNoOther) {
  bool got_one = true;
  OnThread([&] {
    static thread_local LateAsker asker;  // made before the pool's own, so it ends after
    asker.pool = &pool_;
    asker.got_one = &got_one;
    pool_.Current();
  });
  EXPECT_FALSE(got_one);
  EXPECT_EQ(pool_.InUse(), 0);
}

}  // namespace
}  // namespace mpsd
