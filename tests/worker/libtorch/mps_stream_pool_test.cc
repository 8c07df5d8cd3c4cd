#include "worker/libtorch/mps_stream_pool.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ATen/mps/MPSStream.h"
#include "worker/model/runtime/runtime_detection.h"

namespace {
const std::thread::id main_thread = std::this_thread::get_id();
}  // namespace

int pthread_main_np() { return std::this_thread::get_id() == main_thread ? 1 : 0; }

namespace at::mps {
namespace {

MPSStreamPool& Pool() { return MPSStreamPool::instance(); }

template <typename Work>
void OnThread(Work work) {
  std::thread(work).join();
}

// The text that `work` throws.
template <typename Work>
std::string ErrorOf(Work work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(MpsStreamPool, AWorkerKnowsItByItsSymbol) {
  Pool();
  const auto found = [](const char* symbol) { return dlsym(RTLD_DEFAULT, symbol) != nullptr; };
  EXPECT_EQ(mpsd::DetectRuntimeKind(found), mpsd::RuntimeKind::kPatched);
}

TEST(MpsStreamPool, StreamsHaveTheIndexAsTheirId) {
  EXPECT_EQ(Pool().current(), Pool().stream(0)) << "the main thread's";
  OnThread([] {
    EXPECT_EQ(Pool().held(), -1);
    const c10::StreamId id = Pool().current()->unwrap().id();
    EXPECT_NE(id, 0);
    EXPECT_EQ(Pool().held(), id);
    EXPECT_EQ(Pool().stream(id), Pool().current());
  });
}

TEST(MpsStreamPool, WhereAllAreTakenAnErrorSaysSo) {
  std::latch ready(31);
  std::latch end(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 31; ++i) {
    threads.emplace_back([&] {
      Pool().current();
      ready.count_down();
      end.wait();
    });
  }
  ready.wait();
  OnThread([] {
    EXPECT_EQ(ErrorOf([] { Pool().current(); }),
              "the 31 streams of mps are taken by other threads, which give them back as they end");
    EXPECT_EQ(Pool().heldOrMain(), Pool().stream(0));
  });
  end.count_down();
  for (std::thread& thread : threads) thread.join();
  OnThread([] { EXPECT_EQ(ErrorOf([] { Pool().current(); }), ""); });
}

TEST(MpsStreamPool, AnIndexOutOfRangeIsAnError) {
  for (const c10::StreamId id : {c10::StreamId{-1}, c10::StreamId{32}, c10::StreamId{1} << 32}) {
    EXPECT_EQ(ErrorOf([&] { Pool().stream(id); }), "mps has no stream " + std::to_string(id));
    EXPECT_EQ(ErrorOf([&] { Pool().exchange(id); }), "mps has no stream " + std::to_string(id));
  }
}

TEST(MpsStreamPool, AnExchangeNamesTheStreamBefore) {
  OnThread([] {
    const c10::StreamId first = Pool().next();
    EXPECT_EQ(Pool().exchange(first), first) << "there was none";
    const c10::StreamId second = Pool().next();
    EXPECT_EQ(Pool().exchange(second), first);
    EXPECT_EQ(Pool().held(), second);
    EXPECT_EQ(Pool().heldOrMain(), Pool().stream(second));
  });
}

TEST(MpsStreamPool, AThreadsEndWaitsForItsStreamInItsQueue) {
  MPSStream* stream = nullptr;
  int before = 0;
  OnThread([&] {
    stream = Pool().current();
    before = stream->waits;
  });
  EXPECT_EQ(stream->waits, before + 1);
  EXPECT_EQ(stream->outside_of_the_queue, 0);
}

TEST(MpsStreamPool, AWaitForAllWaitsForEachStreamThatWasMade) {
  MPSStream* const streams[] = {Pool().stream(0), Pool().stream(3), Pool().stream(31)};
  std::vector<int> before;
  for (const MPSStream* stream : streams) before.push_back(stream->waits);
  Pool().waitForAll();
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(streams[i]->waits, before[i] + 1);
    EXPECT_EQ(streams[i]->outside_of_the_queue, 0);
  }
}

TEST(MpsStreamPool, MemoryIsNotWaitedForInABlockOfAStreamsQueue) {
  MPSStream* const own = Pool().stream(4);
  MPSStream* const other = Pool().stream(5);
  const int before = own->waits + other->waits;
  dispatch_sync_f(own->queue(), nullptr, [](void*) { Pool().waitForMemory(); });
  EXPECT_EQ(own->waits + other->waits, before);
  Pool().waitForMemory();
  EXPECT_EQ(own->waits + other->waits, before + 2) << "elsewhere";
}

TEST(MpsStreamPool, ABlockIsInTheQueueOfItsOwnStreamAlone) {
  MPSStream* const own = Pool().stream(6);
  EXPECT_FALSE(MPSStreamPool::isInQueueOf(own));
  dispatch_sync_f(own->queue(), own, [](void* stream) {
    EXPECT_TRUE(MPSStreamPool::isInQueueOf(static_cast<MPSStream*>(stream)));
    EXPECT_FALSE(MPSStreamPool::isInQueueOf(Pool().stream(7)));
  });
}

TEST(MpsStreamPool, AnErrorOfAWaitComesOutOfTheQueue) {
  MPSStream* stream = Pool().stream(30);
  stream->on_wait = [] { throw std::runtime_error("the device is lost"); };
  EXPECT_EQ(ErrorOf([&] { Pool().wait(stream); }), "the device is lost");
  stream->on_wait = nullptr;
  EXPECT_EQ(ErrorOf([&] { Pool().wait(stream); }), "") << "the queue is free again";
}

TEST(MpsStreamPool, GraphsArePreferredWhileMoreThanOneStreamIsInUse) {
  Pool().current();
  EXPECT_FALSE(Pool().prefersGraphs());
  OnThread([] {
    Pool().current();
    EXPECT_TRUE(Pool().prefersGraphs());
  });
  EXPECT_FALSE(Pool().prefersGraphs());
}

// In a process of its own, since the pool reads its environment once.
int PrefersGraphsWith(const char* value) {
  setenv("MPS_FORCE_GRAPH_PATH", value, 1);
  return Pool().prefersGraphs() ? 1 : 0;
}

TEST(MpsStreamPool, TheEnvironmentMayForceGraphs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(PrefersGraphsWith("1")), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(std::_Exit(PrefersGraphsWith("0")), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(PrefersGraphsWith("")), ::testing::ExitedWithCode(0), "");
}

// In processes of their own, likewise: 1 for the main thread's stream, 2 for another one.
int ContinuingWith(const char* value) {
  setenv("MPS_COMMIT_AND_CONTINUE", value, 1);
  return (MPSStreamPool::commitsAndContinues(0) ? 1 : 0) +
         (MPSStreamPool::commitsAndContinues(7) ? 2 : 0);
}

TEST(MpsStreamPool, TheEnvironmentSaysWhichStreamsCommitAndContinue) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(ContinuingWith("")), ::testing::ExitedWithCode(3), "");
  EXPECT_EXIT(std::_Exit(ContinuingWith("all")), ::testing::ExitedWithCode(3), "");
  EXPECT_EXIT(std::_Exit(ContinuingWith("main")), ::testing::ExitedWithCode(1), "");
  EXPECT_EXIT(std::_Exit(ContinuingWith("none")), ::testing::ExitedWithCode(0), "");
}

// Whether a thread that finds all streams taken gets one, as soon as another thread ends.
int GetsOneByWaiting() {
  setenv("MPS_STREAM_WAIT_MS", "-1", 1);
  std::latch ready(31);
  std::latch end(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 31; ++i) {
    threads.emplace_back([&] {
      Pool().current();
      ready.count_down();
      end.wait();
    });
  }
  ready.wait();
  std::string error = "none yet";
  std::thread late([&] { error = ErrorOf([] { Pool().current(); }); });
  end.count_down();
  for (std::thread& thread : threads) thread.join();
  late.join();
  return error.empty() ? 1 : 0;
}

TEST(MpsStreamPool, TheEnvironmentMayHaveThreadsWaitForAStream) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(GetsOneByWaiting()), ::testing::ExitedWithCode(1), "");
}

TEST(MpsStreamPool, InItsScopeAStreamIsTheThreads) {
  MPSStream* main = Pool().current();
  OnThread([&] {
    {
      const MPSStreamScope scope(main);
      EXPECT_EQ(Pool().current(), main);
    }
    EXPECT_NE(Pool().current(), main);
  });
}

}  // namespace
}  // namespace at::mps
