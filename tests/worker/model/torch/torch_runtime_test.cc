#include "worker/model/torch/torch_runtime.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "ATen/Parallel.h"

namespace mpsd {
namespace {

std::unique_ptr<TorchRuntime> RuntimeOf(uint32_t threads, uint32_t cores) {
  LoadOrder order;
  order.model = "m";
  order.device = "cpu";
  order.lanes = 2;
  order.threads = threads;
  order.cores = cores;
  return TorchRuntime::Create(order).value();
}

// The threads that libtorch has for a run on a lane of its own, beside what runs already.
int ThreadsOfALane(TorchRuntime* runtime, uint32_t lane) {
  int threads = 0;
  std::thread([&] {
    if (!runtime->BindLane(lane).ok()) return;
    const TorchRuntime::Turn turn(runtime);
    threads = at::get_num_threads();
  }).join();
  return threads;
}

TEST(TorchRuntimeTest, ALaneHasTheCoresOfIdleLanes) {
  const std::unique_ptr<TorchRuntime> runtime = RuntimeOf(/*threads=*/2, /*cores=*/2);
  ASSERT_TRUE(runtime->BindLane(0).ok());
  std::optional<TorchRuntime::Turn> turn(std::in_place, runtime.get());
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_EQ(ThreadsOfALane(runtime.get(), 1), 1);
  EXPECT_EQ(at::get_num_threads(), 2) << "a thread count is a thread's own";
  turn.reset();
  EXPECT_EQ(ThreadsOfALane(runtime.get(), 1), 2);
}

TEST(TorchRuntimeTest, ALaneHasWhatTheConfigSays) {
  const std::unique_ptr<TorchRuntime> runtime = RuntimeOf(/*threads=*/2, /*cores=*/4);
  ASSERT_TRUE(runtime->BindLane(0).ok());
  const TorchRuntime::Turn turn(runtime.get());
  EXPECT_EQ(ThreadsOfALane(runtime.get(), 1), 2);
}

}  // namespace
}  // namespace mpsd
