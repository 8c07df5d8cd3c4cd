// ThreadShare: divides a process's cores among its current inferences.
#pragma once

#include <algorithm>
#include <atomic>

namespace mpsd {

// A lane's share of the cores, while its run on a cpu lasts:
//
//   one lane runs      ████ ████   all cores
//   a second begins    ████        the cores left when both share alike
//                           ████
//   the first ends          ████   the second keeps the threads with which it began
//
// A lone request is answered sooner with its neighbours' cores. Under load, lanes side by side do
// more work than threads that wait for each other after every product.
//
// Owned by the model's TorchRuntime. Thread-safe, without a lock: of two runs that begin at the
// same time, both or only one may see the other.
class ThreadShare {
 public:
  // `most`: threads of one inference. `cores`: threads of all inferences together, at least `most`.
  ThreadShare(int most, int cores) : most_(most), cores_(cores) {}

  // Made and destroyed by one lane's thread.
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
