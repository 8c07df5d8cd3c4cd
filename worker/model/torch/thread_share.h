// ThreadShare: divides a process's cores among the inferences that run at the moment.
#pragma once

#include <algorithm>
#include <atomic>

namespace mpsd {

// Step 9 of a request's path on a cpu, around a run:
//
//   one lane runs      ████ ████   all cores
//   a second begins    ████        what is left of them when both share alike
//                           ████
//   the first ends          ████   the second goes on with the threads that it began with
//
// A lone request has the cores of its neighbours, which shortens its answer; under load each lane
// has its own, since lanes side by side do more work than threads that wait for each other at the
// end of every product.
//
// Owned by the model's TorchRuntime. Thread-safe, without a lock: two runs that begin at the same
// time may both see the other, or one of them.
class ThreadShare {
 public:
  // `most`: threads of one inference. `cores`: of all inferences of the process together; at least
  // `most`. With as many cores as all lanes have threads, an inference always gets `most`.
  ThreadShare(int most, int cores) : most_(most), cores_(cores) {}

  // A run's part, while it lives. Made and destroyed by one lane's thread.
  class Part {
   public:
    explicit Part(ThreadShare* share) : share_(share), threads_(share->Begin()) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() { share_->running_.fetch_sub(1, std::memory_order_relaxed); }

    // At least 1. Constant.
    int threads() const { return threads_; }

   private:
    ThreadShare* const share_;
    const int threads_;
  };

 private:
  int Begin() {
    const int running = running_.fetch_add(1, std::memory_order_relaxed) + 1;
    return std::clamp(cores_ / running, 1, most_);
  }

  const int most_;
  const int cores_;
  std::atomic<int> running_{0};
};

}  // namespace mpsd
