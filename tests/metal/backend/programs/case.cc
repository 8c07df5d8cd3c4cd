#include "tests/metal/backend/programs/case.h"

#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

namespace mpsd::standin {

void Meet(std::atomic<int>& arrived, int wanted) {
  constexpr int kMostLooks = 100'000;
  ++arrived;
  for (int i = 0; i < kMostLooks && arrived < wanted; ++i) std::this_thread::yield();
}

void RunOnThreads(const CaseSize& size, CaseCounts& counts,
                  const std::function<void(int thread, int round)>& round) {
  const auto run = [&](int thread) {
    try {
      for (int i = 0; i < size.rounds; ++i) round(thread, i);
    } catch (const std::exception& error) {
      ++counts.failed;
      std::fprintf(stderr, "thread %d: %.300s\n", thread, error.what());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < size.threads; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace mpsd::standin
