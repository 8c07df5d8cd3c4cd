#include <ATen/ATen.h>

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "tests/metal/backend/programs/case.h"

namespace mpsd::standin {
namespace {

constexpr int kStreams = 31;  // beside the main thread's

}  // namespace

void Exhaustion(const CaseSize& size, CaseCounts& counts) {
  std::atomic<int> asked{0};
  std::atomic<int> refused{0};
  const auto ask_and_stay = [&] {
    try {
      const at::Tensor device = at::zeros({4}).to("mps");
    } catch (const std::exception&) {
      ++refused;
    }
    ++asked;
    while (asked < size.threads) std::this_thread::yield();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < size.threads; ++i) threads.emplace_back(ask_and_stay);
  for (std::thread& thread : threads) thread.join();
  if (refused != size.threads - kStreams) ++counts.wrong;
}

void Patience(const CaseSize& size, CaseCounts& counts) {
  RunOnThreads(size, counts, [&](int, int) {
    const at::Tensor host = at::ones({4});
    if (!at::equal(host.to("mps").to("cpu"), host)) ++counts.wrong;
  });
}

}  // namespace mpsd::standin
